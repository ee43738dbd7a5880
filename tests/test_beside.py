"""Two runs beside each other: differences in words, columns in node, what the page gets."""

from __future__ import annotations

import json
from copy import copy
from dataclasses import fields, replace

import pytest
from streamlit.testing.v1 import AppTest

from specdec import recordings, simulate
from specdec.compare import compare, conditions, differences
from specdec.law import Sampling
from specdec.measure import Costs
from specdec.trace import Settings, Source, Token, Trace
from specdec.ui import beside, component
from tests.apps import stage_traces as traces
from tests.pairs_np import drafting, random_model, run_rounds

ONE = Settings(4, "model", Sampling(), 64, 0)
CHANGES = [
    ({"k": 8}, ("k", "4", "8")),
    ({"drafter": "lookup"}, ("drafter", "small model", "prompt lookup")),
    ({"max_new_tokens": 32}, ("tokens at most", "64", "32")),
    ({"seed": 3}, ("seed", "0", "3")),
    ({"rule": "block"}, ("rule", "pq", "block")),
    ({"stop": ("a", "\n")}, ("stop strings", "none", "“a”, “\\n”")),
    ({"chat": True}, ("chat template", "no", "yes")),
    ({"rows": 8}, ("fixed rows of a pass", "off", "8")),
    ({"adaptive": "ema c=0.1"}, ("adaptive k", "off", "ema c=0.1")),
    ({"confidence": 0.4}, ("confidence", "0", "0.4")),
    ({"sampling": Sampling(0.7)}, ("temperature", "0", "0.7")),
    ({"sampling": Sampling(top_k=50)}, ("top-k", "0", "50")),
    ({"sampling": Sampling(top_p=0.95)}, ("top-p", "1", "0.95")),
    ({"sampling": Sampling(min_p=0.1)}, ("min-p", "0", "0.1")),
    ({"sampling": Sampling(presence_penalty=0.5)}, ("presence penalty", "0", "0.5")),
    ({"sampling": Sampling(allowed=(1, 2))}, ("allowed", "off", "1, 2")),
    ({"sampling": Sampling(logit_bias=((3, 0.5),))}, ("logit bias", "none", "(3, 0.5)")),
]


@pytest.mark.parametrize(("change", "said"), CHANGES)
def test_each_setting_that_differs_is_named_with_both_values(change, said):
    assert differences(ONE, replace(ONE, **change)) == (said,)
    assert differences(replace(ONE, **change), ONE) == ((said[0], said[2], said[1]),)


def test_no_setting_is_left_out():
    """A new field of the settings must turn up here."""
    changed = {name for change, _ in CHANGES for name in change}
    assert changed == {f.name for f in fields(Settings)}
    asked = (f for f in fields(Sampling) if f.name != "prompt_length")  # the loop's own
    for f in asked:
        other = copy(ONE.sampling)
        object.__setattr__(other, f.name, 0.123)  # whatever its range
        [(_, _, said)] = differences(ONE, replace(ONE, sampling=other))
        assert said == "0.123"


def test_equal_settings_differ_in_nothing_and_all_changes_add_up():
    assert differences(ONE, ONE) == ()
    many = replace(ONE, k=8, seed=1, sampling=Sampling(0.5, 10))
    assert [name for name, _, _ in differences(ONE, many)] == ["k", "seed", "temperature", "top-k"]


def test_against_plain_decoding_k_alone_differs():
    plain = replace(ONE, k=0, drafter="none")
    for speculative in (ONE, replace(ONE, adaptive="ema", confidence=0.4, rule="block")):
        assert differences(speculative, plain) == (("k", "4", "0"),)


def test_close_values_are_told_apart():
    a, b = (replace(ONE, sampling=Sampling(t)) for t in (0.7, 0.7000001))
    assert differences(a, b) == (("temperature", "0.7", "0.7000001"),)


def test_prompt_and_models_are_conditions_too():
    a = traces.sampled()
    other = replace(a, prompt=(*a.prompt, Token(3, "x")), source=replace(a.source, dtype="bf16"))
    assert conditions(a, a) == ()
    assert conditions(a, other) == (("prompt", "one", "another"), ("precision", "float64", "bf16"))
    small = replace(a, source=replace(a.source, drafter="noisier bigram"))
    assert conditions(a, small) == (("drafter", "noisy bigram", "noisier bigram"),)


# Words.


def test_one_none_or_several_settings():
    a = traces.sampled()
    assert beside.setting_words(a, a) == "**No setting differs**: the same request twice."
    words = beside.setting_words(a, traces.sampled(k=8))
    assert words == "**One setting differs**: k 4 → 8."
    words = beside.setting_words(a, traces.sampled(k=8, seed=9, prompt=12))
    assert words.startswith("**3 settings differ**: another prompt, k 4 → 8, seed 3 → 9.")
    assert "cannot be put down to one" in words


def greedy(k: int, seed: int = 0) -> Trace:
    """A greedy run of one random pair; k and seed may not change its text."""
    target = random_model(20, seed=5)
    rounds = tuple(run_rounds(target, drafting(target, error=1.0), [1, 2], k=k, n=30, rng=seed))
    source = Source("live", "random", "noisy")
    return Trace(
        (Token(1, "a"), Token(2, "b")), rounds, replace(ONE, k=k, seed=seed), source, "length"
    )


def test_greedy_runs_may_not_differ_and_a_near_tie_is_named_where_they_do():
    a, b = greedy(3), greedy(6, seed=4)
    assert compare(a, b).equal
    assert beside.law_words(a, b).endswith("may not change a text.")
    assert beside.parting_words(a, b, ("A", "B")) == "The same text: all 30 tokens are equal."
    runs = (recordings.load("chat", way).speculative for way in ("model", "lookup"))
    assert "near tie" in beside.law_words(*runs)
    shorter = replace(b, rounds=b.rounds[:2], settings=replace(b.settings, max_new_tokens=9))
    assert "near tie" not in beside.law_words(a, shorter)


def test_sampled_runs_are_told_what_a_seed_does():
    a = traces.sampled()
    assert "same random numbers" in beside.law_words(a, traces.sampled(k=8))
    assert "Other seeds" in beside.law_words(a, traces.sampled(seed=9))
    assert "the other drafts" in beside.law_words(a, traces.sampled(k=0))
    assert "new numbers in every round" in beside.law_words(a, traces.ruled("block", seed=3))
    assert "two laws" in beside.law_words(greedy(3), a)


def test_under_sampler_match_a_seed_fixes_the_text():
    a, b, c = (traces.ruled("match", k=k) for k in (2, 6, 0))
    assert compare(a, b).equal and compare(a, c).equal
    assert "may not change the text" in beside.law_words(a, b)
    assert "may not change the text" in beside.law_words(b, c)


def test_a_run_that_ends_first_is_named():
    a, b = traces.sampled(40), traces.sampled(24)
    words = beside.parting_words(a, b, ("A", "short *one*"))
    assert words == "All 24 tokens of “short \\*one\\*” are the same; there it ends (length limit)."
    other = traces.sampled(40, k=8)
    assert beside.parting_words(a, other, ("A", "B")) == "First difference: token 15."


def test_simulated_runs_have_no_text_to_compare():
    run = simulate.trace(0.8, 4, 20, 0, Costs(4, 1.0, 1.2, 0.1))
    assert beside.wire(run, run, ("A", "B"))["first"] is None
    assert not beside.parting_words(run, run, ("A", "B"))
    assert "no text" in beside.law_words(run, traces.sampled())


def test_the_rates_are_the_traces_own():
    a, b = traces.sampled(), traces.kiln()
    table = beside.rates(a, b, ("a", "b"))
    seconds = a.seconds.total
    assert table["a"] == [
        "24",
        str(a.target_passes),
        f"{a.alpha:.2f}",
        f"{a.draft_yield:.2f}",
        f"{a.tokens_per_pass:.2f}",
        f"{24 / seconds:.1f}",
        f"{seconds:.3f}",
        "measured just now",
    ]
    assert table["b"][5:] == ["n/a", "n/a", "none"]
    empty = beside.rates(traces.first(a, 0), a, ("a", "b"))["a"]
    assert empty[:5] == ["0", "0", "n/a", "n/a", "n/a"]
    with pytest.raises(ValueError, match="their labels must differ"):
        beside.rates(a, b, ("a", "a"))


# The browser's side.

SCRIPT = """
const beside = await import("data:text/javascript," + encodeURIComponent(data.script));
const { input } = data;
give((() => { %s })());
"""


@pytest.fixture(scope="module")
def js(node):
    script = component.script("beside", beside.MODULES)
    return lambda body, **given: node(SCRIPT % body, {"script": script, "input": given})


def test_columns_are_places_of_both_texts(js):
    a, b = traces.sampled(40), traces.sampled(24)
    wire = beside.wire(a, b, ("A", "B"))
    columns = js("return beside.columnsOf(input.strips, input.first);", **wire)
    assert len(columns) == 40 and wire["first"] == 24
    assert [c["equal"] for c in columns] == [i < 24 for i in range(40)]
    assert [c["at"] for c in columns if c["first"]] == [24]
    for i, (column, token) in enumerate(zip(columns, a.written)):
        assert column["tokens"][0]["text"] == token.text
        assert (column["tokens"][1] is None) == (i >= 24)


def test_seams_stand_before_every_pass_but_the_first():
    a = traces.sampled()
    tokens = beside.wire(a, a, ("A", "B"))["strips"][0]["tokens"]
    seams = [i for i, token in enumerate(tokens) if token["seam"]]
    starts = [r.start - len(a.prompt) for r in a.rounds]
    assert seams == starts[1:]


def test_a_fold_keeps_tokens_before_the_difference_and_hides_enough(js):
    folded = js("return input.firsts.map(beside.foldedOf);", firsts=[None, 0, 8, 15, 16, 59])
    assert folded == [0, 0, 0, 0, 8, 51]


def test_mark_and_table_say_both_tokens(js):
    strips = [
        {"label": "A", "blank": False, "tokens": [token(" the", "accepted"), token(" a", "bonus")]},
        {"label": "B", "blank": False, "tokens": [token(" the", "bonus")]},
    ]
    mark, rows = js(
        """const columns = beside.columnsOf(input.strips, 1);
        const rows = columns.map((c) => beside.rowOf(c, input.strips, 1, true));
        return [beside.markSays(columns[1], input.strips), rows];""",
        strips=strips,
    )
    assert mark == "First difference, token 2. A: “\u2068a\u2069” bonus; B: ended"
    assert rows == [
        ["1", "✓ ·the", "+ ·the", "equal"],
        ["2", "+ ·a", "ended", "first difference"],
    ]


def token(text: str, kind: str) -> dict:
    return {"text": text, "kind": kind, "seam": False}


# The page.


def page():
    from specdec.ui.beside import beside
    from tests.apps import stage_traces as traces

    beside(traces.sampled(40), traces.sampled(40, k=8), key="b", labels=("k = 4", "k = 8"))


def test_the_page_shows_words_strips_and_rates():
    at = AppTest.from_function(page, default_timeout=30).run()
    assert not at.exception
    assert at.markdown[0].value.startswith("**One setting differs**: k 4 → 8.")
    sent = json.loads(at.get("bidi_component")[0].proto.json)
    first = compare(traces.sampled(40), traces.sampled(40, k=8)).first
    assert sent["first"] == first == 14
    assert [strip["label"] for strip in sent["strips"]] == ["k = 4", "k = 8"]
    assert list(at.table[0].value.columns) == ["rate", r"k \= 4", r"k \= 8"]


def test_the_browser_gets_text_as_text_and_fetches_nothing():
    script = component.script("beside", beside.MODULES)
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "import "):
        assert word not in script
    for text in (component.read("beside.html"), component.read("beside.css"), script):
        assert "http" not in text and "url(" not in text
