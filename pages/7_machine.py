"""Your machine: what passes cost here, why the speed-up is what it is, and the best k."""

import streamlit as st

from specdec import batch
from specdec.ui import machine, machine_charts, machine_files, machine_words, query, shell
from specdec.ui.speedup_tables import MARKS
from specdec.ui.watch import unfolded
from specdec.waterfall import waterfall

PLOT = {"config": {"displayModeBar": False}}

shell.begin("machine")
link = query.read(st.query_params, "k", "drafter", "batch", **machine.LIMITS)
shell.notes(link.notes)

st.markdown(
    "One button, about half a minute: passes of the target over 1 to 129 tokens, passes of the "
    "drafter, then short runs of both drafters beside plain decoding, in turn."
)
prompt = machine.measuring(link.values["prompt"])
at = machine.controls(link.values, prompt)
found, run = at.machine, at.run
st.caption(machine.origin(found))
if busy := machine.unsteady(found):
    st.warning(busy)

with st.container(border=True):
    st.markdown(machine_words.question(found, run))
    guess = st.radio(
        "Your guess", machine_words.GUESSES, None, key="guess", label_visibility="collapsed"
    )
    if guess:
        right, words = machine_words.answer(found, run, guess)
        st.markdown(f"**{'✓ Right.' if right else '✗ Not so.'}** {words}")

st.subheader("The dot on the curve")
for column, (label, value, note, words) in zip(st.columns(5), machine_words.figures(found, run)):
    column.metric(label, value, note, "off", delta_arrow="off", help=words)
alt = machine_charts.described(found, run)
st.plotly_chart(machine_charts.speedups(found, run), key="machine curve", alt=alt, **PLOT)
with st.container(border=True):
    st.markdown(machine_words.verdict(found, run))

st.subheader("From the ideal to the clock")
if fall := waterfall(found, run):
    alt = f"Waterfall from {fall.start:.2f}× to {fall.measured:.2f}×; the table has its bars."
    st.plotly_chart(machine_charts.fall(fall), key="machine fall", alt=alt, **PLOT)
    unfolded("The bars in numbers", "machine bars", lambda: st.table(machine_words.bars(fall)))

st.subheader("Many readers, one pass")
st.markdown(machine_words.dial(found, run, at.batch))
left, right = st.columns(2)
figure = machine_charts.passes(found, at.batch, run)
left.plotly_chart(figure, key="machine passes", alt="Time of a pass by its tokens.", **PLOT)
alt = "Speed-up by batch size here and as published; the tables below have the numbers."
right.plotly_chart(machine_charts.batches(found, run), key="machine batches", alt=alt, **PLOT)
published = batch.published()
st.caption(
    "Here: computed from the pass times and α; a round of B sequences is one pass over B·(k + 1) "
    "tokens, and every sequence's own cache is left out. Dotted lines are **published** figures, "
    f"not this machine's: {published.words} ({MARKS[published.mark]})."
)
unfolded("Passes and v by range", "machine v", lambda: st.table(machine_words.ranges(found)))
unfolded("The best k by batch", "machine b", lambda: st.table(machine_words.batches(found, run)))

st.subheader("The wait between two tokens")
st.table(machine_words.arrivals(found, run.drafter))
st.caption("Tokens of a round arrive together: the first waited for the round, the others 0 ms.")

st.subheader("Are guesses independent?")
st.markdown(machine_words.dependence(run))
unfolded("Acceptance by place", "machine places", lambda: st.table(machine_words.places(run)))

st.subheader("Beside another machine")
machine_files.files(found)

st.markdown(
    "**What to notice.** The article's curve has v = 0: the distance to this machine's grows with "
    "k. · Past the flat part a pass costs by the token, so a batch uses up the room that guesses "
    "live on. · A larger k lets more tokens arrive at once, after a longer wait."
)
shell.share_link("machine", **at.link())
shell.next_page("machine")
