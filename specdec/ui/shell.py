"""What every page has around its lesson: the menu, title, purpose, a link to share, the way on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from specdec.ui import course, glossary, presenter, query

NOTED = "noted"  # in the session: notes on a link → the settings when they were first shown


@dataclass(frozen=True)
class Page:
    """A lesson: its file, its address in a URL, and how the menu and its first lines call it."""

    path: str
    address: str
    label: str
    icon: str
    purpose: str


PAGES = (
    Page(
        "app.py",
        "",
        "Start",
        ":material/home:",
        "A large model writes one token per pass, and every pass waits for the one before. "
        "A small model guesses ahead; the large one checks all its guesses at once.",
    ),
    Page(
        "pages/2_watch.py",
        "watch",
        "Watch it run",
        ":material/play_circle:",
        "Two toy models write one sentence, step by step: what a draft saves, what a wrong guess "
        "costs, and the two ways in which a drafter disappoints.",
    ),
    Page(
        "pages/3_rule.py",
        "rule",
        "The rule",
        ":material/balance:",
        "One position, one guess: why keeping it with chance min(1, p/q), and drawing anew from "
        "what p still lacks, writes exactly p.",
    ),
    Page(
        "pages/4_speedup.py",
        "speedup",
        "The speed-up",
        ":material/show_chart:",
        "Three numbers decide whether speculation pays and how far to draft: "
        "how often a guess is accepted, what a guess costs, and how many you make.",
    ),
    Page(
        "pages/5_live.py",
        "live",
        "Live pair",
        ":material/bolt:",
        "Two real models on this machine: every draft, every test and every millisecond is "
        "computed or measured.",
    ),
    Page(
        "pages/6_drafters.py",
        "drafters",
        "Ways to draft",
        ":material/account_tree:",
        "Another model, a copy, heads on the target, a tree of guesses, the target's own first "
        "layers: the same text by each of them, on one clock.",
    ),
    Page(
        "pages/7_machine.py",
        "machine",
        "Your machine",
        ":material/speed:",
        "What a pass costs on this machine, why the speed-up is not the ideal one, and whether to "
        "speculate here at all.",
    ),
    Page(
        "pages/8_pitfalls.py",
        "pitfalls",
        "Where it goes wrong",
        ":material/report:",
        "Eight ways to get speculation wrong, each of them to do yourself: what you see, why it "
        "happens, and what mends it.",
    ),
    Page(
        "pages/9_interview.py",
        "interview",
        "Interview",
        ":material/record_voice_over:",
        "The questions that interviewers ask, with answers at three depths, the usual wrong one, "
        "and the place where each can be seen.",
    ),
    Page(
        "pages/10_class.py",
        "class",
        "For the class",
        ":material/co_present:",
        "A lesson of twenty minutes: what to open, in order, for how long, what to say and what to "
        "ask. Present it with a clicker, or change it.",
    ),
)

LESSONS = tuple(known.address for known in PAGES if known.address not in ("", "class"))


def page(address: str) -> Page:
    """The page at this address ("speedup" of "/speedup"); ValueError if there is none."""
    for known in PAGES:
        if known.address == address:
            return known
    others = ", ".join(known.address for known in PAGES if known.address)
    raise ValueError(f'There is no page {address!r}; there are "" (the start), {others}.')


def begin(address: str) -> None:
    """The first call of a page: browser title, menu, heading, purpose, words."""
    here = page(address)
    st.set_page_config(page_title=f"{here.label} · Draft, Verify, Accept", layout="wide")
    mended = course.enter(address, LESSONS)
    if presenter.on():
        _present(here)
    else:
        with st.sidebar:
            st.markdown("**Draft · Verify · Accept**")
            for known in PAGES:
                link_to(known)
            presenter.button()
    st.title(here.label if address else "Draft · Verify · Accept")
    st.markdown(here.purpose)
    glossary.words(address)
    notes(mended)


def _present(here: Page) -> None:
    at = PAGES.index(here)
    place = f"{at + 1} of {len(PAGES)} · {here.label}"
    if turn := presenter.bar(here.address, place):
        there = PAGES[min(max(at + turn, 0), len(PAGES) - 1)]
        st.switch_page(there.path, query_params=carried())


def carried() -> dict[str, str]:
    """What every way to another page takes along: presenter mode, and the opened lessons."""
    along = {course.KEY: course.write(LESSONS), presenter.KEY: "1" if presenter.on() else ""}
    return {name: value for name, value in along.items() if value}


def link_to(known: Page, label: str | None = None, icon: str | None = None) -> None:
    """A link to a page of the app that keeps presenter mode and progress."""
    label, icon = label or known.label, icon or known.icon
    st.page_link(known.path, label=label, icon=icon, query_params=carried())


def notes(sentences: tuple[str, ...]) -> None:
    """What was mended in a link, gently: until the reader sets something himself."""
    then = st.session_state.setdefault(NOTED, {}).setdefault(sentences, None)
    if sentences and then in (None, _settings()):
        st.info("\n\n".join(sentences), icon=":material/link:")


def _settings() -> dict[str, Any]:
    """What the controls of the page say now."""
    plain = (str, int, float, bool, type(None))
    return {k: v for k, v in st.session_state.to_dict().items() if isinstance(v, plain)}


def address_of(address: str, **state: Any) -> str:
    """The full address of a page in exactly this state; keys as in `query.KEYS`."""
    root = (st.context.url or "").rstrip("/")
    for known in PAGES[1:]:
        root = root.removesuffix(f"/{known.address}")
    return f"{root}/{address}?{urlencode(query.write(**state))}"


def share_link(address: str, **state: Any) -> None:
    """A link that opens exactly this state, ready to copy."""
    with st.popover("Link to exactly this", icon=":material/share:"):
        st.caption(
            "Opens this page with these settings, on this server. With `&present=1` at its end it "
            "opens in presenter mode."
        )
        st.code(address_of(address, **state), language=None, wrap_lines=True)


def next_page(address: str) -> None:
    """The last call of a page, the way on: to the next in the menu, from the last to the start."""
    noted, now = st.session_state.get(NOTED, {}), _settings()
    noted.update((sentences, now) for sentences, then in noted.items() if then is None)
    at = PAGES.index(page(address))
    on = PAGES[(at + 1) % len(PAGES)]
    label = f"On to: {on.label}" if at + 1 < len(PAGES) else f"Back to: {on.label}"
    link_to(on, label, ":material/arrow_forward:")
