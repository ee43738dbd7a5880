"""Watch it run: one round of draft, verify, accept, as real steps of two toy models."""

import streamlit as st

from specdec import toy
from specdec.ui import query, scenes, shell, tables
from specdec.ui.stage import Position, stage

shell.begin("watch")
NAMES = tuple(scene.name for scene in scenes.SCENES)
TITLES = {scene.name: scene.title for scene in scenes.SCENES}

link = query.read(
    st.query_params,
    "k",
    "prompt",
    "round",
    "step",
    drafter=query.Choice(NAMES[0], NAMES),
    k=query.Number(4, 1, 8, whole=True),
)
shell.notes(link.notes)
written = link.values["prompt"].split(tables.BREAK)

st.markdown(
    "Two toy models, each a table: text so far → next word. They run through the same engine as "
    "the real pair, so every step below is computed, not drawn."
)
name = st.segmented_control(
    "Scene",
    NAMES,
    default=link.values["drafter"],
    format_func=TITLES.get,
    key="scene",
    required=True,
)
scene = scenes.SCENES[NAMES.index(name)]
k = st.slider("k, drafted words a round", 1, 8, link.values["k"], key="watch k", width=320)

with st.expander(f"Predict first: {scene.ask}"):
    st.markdown(scene.answer)

with st.expander("The two tables, to change"):
    st.caption("A line is: text so far -> next word. The first line starts from nothing.")
    left, right = st.columns(2)
    own = len(written) == 2
    target_lines = left.text_area(
        "Target", written[0] if own else tables.write(tables.TARGET), height=230, key="target"
    )
    drafter_lines = None
    if scene.drafter is not None:
        drafter_lines = right.text_area(
            "Drafter",
            written[1] if own else tables.write(scene.drafter),
            height=230,
            key=f"drafter {name}",
        )

try:
    target = toy.table(tables.parse(target_lines, "Target"))
    drafter = drafter_lines and toy.table(tables.parse(drafter_lines, "Drafter"))
    show = scenes.show(scene, target, drafter or None, k)
    st.session_state["last good show"] = show
except ValueError as error:
    show = st.session_state.get("last good show") or scenes.opening(scene, k)
    st.error(f"{error} The stage still shows the last tables that worked.")

start = Position(link.values["round"], link.values["step"])
place = stage(show.trace, key=f"watch {name}", plain=show.plain, costs=show.costs, start=start)
st.markdown(f"**What to notice.** {scene.notice}")
shell.share_link(
    "watch",
    drafter=name,
    k=k,
    prompt=target_lines + tables.BREAK + (drafter_lines or ""),
    round=place.round,
    step=place.step,
)
with st.expander("The same rounds as lines of text"):
    st.code("\n".join(toy.lines(show.trace)), language=None, wrap_lines=True)
    tokens, passes = len(show.trace.token_ids), show.trace.target_passes
    st.markdown(f"{passes} target passes for {tokens} tokens.")
shell.next_page("watch")
