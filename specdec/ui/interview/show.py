"""“Show me”: a link to another page in exactly the state that shows an answer."""

from __future__ import annotations

import streamlit as st

from specdec.language import text
from specdec.questions import Show
from specdec.ui import query, shell


def there(show: Show) -> bool:
    """Whether its page exists."""
    return any(known.address == show.address for known in shell.PAGES)


def params(show: Show) -> dict[str, str]:
    """The link's keys, and what every way to another page takes along; ValueError for a bad key."""
    return query.write(**show.keys) | shell.carried()


def show_me(show: Show, see: str) -> None:
    """What to look at, and the way there; nothing while the page is not there."""
    if not there(show):
        return
    page = shell.page(show.address)
    label = text("interview")["show"].format(page=page.label)
    st.page_link(page.path, label=f"**{label}**", icon=page.icon, query_params=params(show))
    st.caption(see)
