"""Ways to draft: every drafter on one prompt and one clock, its trees, its k and its certainty."""

import streamlit as st

from specdec.ui import drafters, drafters_charts, drafters_live, drafters_published, query, shell
from specdec.ui import drafters_words as words
from specdec.ui.drafters_lanes import lanes
from specdec.ui.drafters_tree import telling, tree_of

shell.begin("drafters")
link = query.read(st.query_params, *drafters.KEYS, **drafters.LIMITS)
ways, mended = drafters.ways_of(link.values["drafter"])
shell.notes(link.notes + mended)

st.markdown(
    "The target and its text stay; only the drafter changes. It may be another model, a copy of "
    "what stands in the text already, or the target itself, and it may guess one path or many."
)
chosen = drafters.controls(link.values, ways)
contest = chosen.contest
if absent := drafters.absent(chosen):
    st.caption(absent)

with st.container(border=True):
    question, names = words.question(chosen)
    st.markdown(question)
    guess = st.radio(
        "Your guess",
        names,
        None,
        format_func=drafters.WORDS.get,
        key=f"guess {chosen.key}",
        horizontal=True,
        label_visibility="collapsed",
    )
    if guess:
        right, said = words.answer(contest, chosen.ways, guess)
        st.markdown(f"**{'✓ Right.' if right else '✗ Not so.'}** {said}")

st.subheader("One clock")
st.caption(words.source(contest))
opened = "round" in st.query_params or contest.source.kind == "live"
lanes(contest, chosen.ways, key=f"lanes {chosen.key}", over=bool(guess) or opened)
st.dataframe(
    words.table(contest, chosen.ways),
    hide_index=True,
    column_config={"way": st.column_config.TextColumn(pinned=True)},
)
st.caption(words.below(contest, chosen.ways))

st.subheader("Run them here")
live = drafters_live.panel(chosen, link.values)

st.subheader("The guesses of a round")
drawn = drafters.drawn(chosen, link.values["panel"])
trace = contest.entry(drawn).trace
given = (link.values["round"], link.values["step"])
start = given if "round" in st.query_params else telling(trace)
place = tree_of(trace, key=f"tree {chosen.key} {drawn}", start=start)

st.subheader("Go further")
section, at = drafters.section, link.values["open"]
section("adaptive", "k as it adapts, and the best k", at, drafters_charts.adaptive, contest)
section("certainty", "Is a drafter right as often as it is sure?", at, drafters_charts.certainty,
        contest, chosen.ways)  # fmt: skip
section("published", "Published tables beside ours", at, drafters_published.panel)

st.subheader("What to notice")
st.markdown("\n".join(f"- {sentence}" for sentence in words.notices(contest, chosen.ways)))
with st.container(horizontal=True):
    shell.share_link("drafters", **drafters.link_to(chosen, place, live))
    shell.next_page("drafters")
