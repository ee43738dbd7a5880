"""Start: the idea in one drawn round, why decoding waits, and the way through the lessons."""

import streamlit as st

from specdec import recordings
from specdec.ui import course, lessons, passes, shell
from specdec.ui.shown import telling
from specdec.ui.stage import stage

shell.begin("")

recording = recordings.load("code")
stage(
    recording.speculative,
    key="start stage",
    plain=recording.plain,
    start=telling(recording.speculative),
    mode="compact",
    report=False,
)
st.markdown(
    "Press play, or step with ← and →. The small model **drafts**, one token after another. The "
    "large model **verifies** them all in one pass. The longest part that it agrees with is "
    "**accepted**; at the first disagreement its own token is written instead, and the guesses "
    "after it go. The text is exactly what the large model alone would have written."
)

left, right = st.columns(2, gap="large")
with left:
    st.subheader("Why decoding waits")
    st.markdown(
        "To write one token, a model reads nearly all its weights from memory, and its arithmetic "
        "units mostly wait for them. Scoring five positions reads the same weights *once*. So a "
        "pass over five known tokens should cost little more than a pass over one. Speculative "
        "decoding is made of that difference: it spends cheap draft passes to save dear target "
        "passes."
    )
with right:
    st.subheader("Is it so on this machine?")
    with st.expander("Predict first: five tokens in one pass, how many times the time of one?"):
        st.markdown(
            "If arithmetic were the limit: five times. If reading the weights were all of it: "
            "once. Measure, and see on which side this machine is."
        )
    passes.panel()

lessons.draw()
shell.share_link("", seen=course.write(shell.LESSONS))
