"""The overlap canvas in Python, and page 3: laws, links, heads of real laws, trials. No browser."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from fractions import Fraction as F
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec import recordings, rule
from specdec.fractions_text import parse, parse_many
from specdec.record import top
from specdec.trace import Drafted
from specdec.trials import random_pair, trials
from specdec.ui import overlap as canvas
from specdec.ui import overlap_laws, overlap_trace
from specdec.ui.overlap_heads import REST, heads
from specdec.ui.overlap_laws import Drop, Laws, examples, of_browser, of_link, read
from specdec.ui.stage import Position
from tests.apps import stage_traces as traces

PAGE = "pages/3_rule.py"
HELD = examples()[0].laws
BAD = "prompt holds no two laws"


# Typed numbers. The browser's twin is held to the same words in test_overlap_js.py.


@given(st.integers(0, 10**5), st.integers(1, 10**5))
def test_a_fraction_is_read_as_written(above, below):
    if above <= below:
        assert parse(f" {above} / {below} ") == F(above, below)
        assert parse(str(F(above, below))) == F(above, below)
    else:
        with pytest.raises(ValueError, match="is above 1: a probability goes from 0 to 1"):
            parse(f"{above}/{below}")


@given(st.integers(0, 10**6))
def test_decimals_and_percents_are_exact(millionths):
    assert parse(f"{millionths / 10**6:.6f}") == F(millionths, 10**6)
    assert parse(f"{millionths / 10**4:.4f} %") == F(millionths, 10**6)


@given(st.text(max_size=30))
def test_anything_else_is_refused_in_a_sentence(text):
    try:
        assert 0 <= parse(text) <= 1
    except ValueError as error:
        assert str(error).endswith(".")


def test_many_are_read_between_commas():
    assert parse_many("6/10, 30 %,0.1") == (F(3, 5), F(3, 10), F(1, 10))


# Laws.


def test_the_article_s_example_comes_first_and_its_output_is_its_p():
    p, q = HELD.pair
    written = rule.output_distribution(p, q)
    assert {x: str(mass) for x, mass in written.items()} == {
        "held": "3/5",
        "cooled": "3/10",
        "shone": "1/10",
    }


def test_the_examples_show_what_their_titles_say():
    alphas = {e.title: rule.overlap(*e.laws.pair) for e in examples()}
    assert all(e.laws.valid and e.notice for e in examples())
    assert alphas["Identical"] == 1 and alphas["Disjoint"] == 0 and alphas["Toy A"] == F(7, 10)
    by_title = {e.title: e.laws for e in examples()}
    assert set(by_title["One-hot draft"].q) == {0, 1}
    assert by_title["T → 0"].temperature == 0
    p, q = by_title["Peaked draft"].pair
    assert rule.acceptance(p, q, "held") == F(30, 92)  # "rejected two times in three"
    assert rule.residual(*by_title["Toy A"].pair) == {"a": 1, "b": 0, "c": 0}


LETTERS = st.characters(exclude_characters=",|", exclude_categories=["Cs"])
NAMES = st.lists(st.text(LETTERS, min_size=1, max_size=12), min_size=3, max_size=8, unique=True)
THOUSANDTHS = st.integers(0, 999).map(lambda n: n / 1000)
PARTS = st.tuples(st.integers(1, 10**4), st.integers(0, 10**4))
NUMBERS = st.lists(PARTS.map(lambda x: F(x[1] % (x[0] + 1), x[0])), min_size=8, max_size=8).map(
    tuple
)


def laws_of(names: list[str], p: tuple, q: tuple, token: int, u: float, w: float) -> Laws:
    n = len(names)
    return Laws(tuple(names), p[:n], q[:n], 1.0, Drop(token % n, u, w))


# Whatever the canvas can hold: sums need not be 1.
LAWS_OF_READERS = st.builds(
    laws_of, NAMES, NUMBERS, NUMBERS, st.integers(0, 7), THOUSANDTHS, THOUSANDTHS
)


@given(LAWS_OF_READERS)
def test_laws_go_into_a_link_and_back(laws):
    assert read(laws.write()) == laws
    assert of_link(laws.write(), 0.3) == (replace(laws, temperature=0.3), ())


@given(LAWS_OF_READERS)
def test_laws_come_back_from_the_browser(laws):
    sent = canvas._wire(laws) | canvas._pins(laws.drop)
    assert of_browser(json.loads(json.dumps(sent))) == laws


@pytest.mark.parametrize(
    "sent",
    [
        None,
        [],
        "<script>",
        {},
        {"names": ["a"], "p": ["1"], "q": ["1"], "T": 1, "x": 0, "u": 0, "w": 0},
        {"names": list("abc"), "p": ["1/0"] * 3, "q": ["1"] * 3, "T": 1, "x": 0, "u": 0, "w": 0},
        {"names": list("abc"), "p": ["1"] * 3, "q": ["1"] * 3, "T": 9, "x": 0, "u": 0, "w": 0},
        {"names": list("abc"), "p": ["1"] * 3, "q": ["1"] * 3, "T": 1, "x": 3, "u": 0, "w": 0},
        {"names": list("abc"), "p": ["1"] * 3, "q": ["1"] * 3, "T": 1, "x": 0, "u": 1000, "w": 0},
        {"names": list("abc"), "p": ["9" * 5000] * 3, "q": "abc", "T": 1, "x": 0, "u": 0, "w": 0},
        {"names": list("abc"), "p": [1, 0, 0], "q": [1, 0, 0], "T": "nan", "x": 0, "u": 0, "w": 0},
    ],
)
def test_nonsense_from_the_browser_is_no_law(sent):
    assert of_browser(sent) is None


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"names": ("a", "b")}, "There are 2 tokens; the canvas has 3 to 8"),
        ({"names": tuple("abcdefghi")}, "There are 9 tokens; the canvas has 3 to 8"),
        ({"names": ("a", "a", "b")}, "the same name"),
        ({"names": ("a", "b", "c,d")}, "without comma and bar"),
        ({"names": ("a", "b", "")}, "a name has 1 to 12 letters"),
        ({"p": (F(1), F(0))}, "3 tokens, but p has 2 numbers"),
        ({"q": (F(2), F(0), F(0))}, "2 is no probability"),
        ({"q": (F(-1), F(0), F(0))}, "-1 is no probability"),
        ({"temperature": 2.5}, "The temperature is 2.5"),
        ({"temperature": float("nan")}, "The temperature is nan"),
        ({"drop": Drop(3)}, "Token 3 is drafted"),
    ],
)
def test_wrong_laws_are_refused_with_the_value_and_the_range(change, fault):
    with pytest.raises(ValueError, match=fault):
        replace(HELD, **change)


def test_a_uniform_is_below_one():
    with pytest.raises(ValueError, match=r"u is 1.0; it must be in \[0, 1\)"):
        Drop(0, 1.0)


def test_half_way_laws_are_not_valid():
    assert HELD.valid
    assert not replace(HELD, p=(F(6, 10), F(3, 10), F(2, 10))).valid


@pytest.mark.parametrize(
    ("p", "q", "names", "fault"),
    [
        ([0.5, 0.4], [0.5, 0.5], ["a", "b"], "p sums to 0.9"),
        ([0.5, 0.5], [1.5, -0.5], ["a", "b"], "least -0.5: it is no law"),
        ([1.0], [0.5, 0.5], ["a", "b"], "2 names, but p has 1 numbers"),
        ([], [], [], "0 names"),
        ([float("nan"), 1.0], [0.5, 0.5], ["a", "b"], "p sums to nan"),
    ],
)
def test_floats_that_are_no_law_are_refused(p, q, names, fault):
    with pytest.raises(ValueError, match=fault):
        canvas._fixed(p, q, names, Drop(0))


# Heads of real laws.


def drafted(p: np.ndarray, q: np.ndarray, x: int, tops: int = 10) -> Drafted:
    """A drafted token as the engine records it; the text of an id is the id."""

    def head(law):
        found = top(law, tops)
        return replace(found, entries=tuple((i, str(i), mass) for i, _, mass in found.entries))

    chance = float(rule.acceptance(p, q, x))
    left = head(rule.residual(p, q))
    return Drafted(
        x, str(x), float(q[x]), float(p[x]), 0.5, chance, "accepted", -1, head(p), head(q), left
    )


def random_law(rng: np.random.Generator, size: int, kept: int, spread: float) -> np.ndarray:
    """Softmax of normal logits, cut to the `kept` likeliest."""
    law = np.exp(rng.normal(0, spread, size))
    law[np.argsort(-law)[kept:]] = 0
    return law / law.sum()


@pytest.mark.parametrize("kept", [3, 8, 40, 400])
def test_heads_are_laws_with_the_true_numbers_and_never_less_overlap(kept):
    rng = np.random.default_rng(kept)
    told = 0
    for _ in range(60):
        p = random_law(rng, 400, kept, 2.0)
        q = 0.5 * p + 0.5 * random_law(rng, 400, kept, 2.0)
        x = int(rng.choice(400, p=q))
        seen = heads(drafted(p, q, x))
        assert sum(seen.p) == pytest.approx(1) and sum(seen.q) == pytest.approx(1)
        assert seen.names[seen.drafted] == str(x) and len(seen.names) <= 11
        for name, a, b in zip(seen.names, seen.p, seen.q):
            if name != REST:
                assert a == pytest.approx(p[int(name)], abs=1e-9)
                assert b == pytest.approx(q[int(name)], abs=1e-9)
        true = rule.overlap(p, q)
        assert sum(map(min, seen.p, seen.q)) >= true - 1e-9
        if seen.overlap is not None:
            told += 1
            assert seen.overlap == pytest.approx(true, abs=1e-9)
    assert told > 40


def test_the_target_s_favourite_is_shown_though_the_drafter_never_thought_of_it():
    p, q = np.full(100, 0.3 / 99), np.full(100, 0.5 / 98)
    p[0], q[1], q[0] = 0.7, 0.5, 0.0  # 0 is in no head of q; 5 … 9 let the residual tell
    p[5:10], q[5:10] = 0.02, 0.015
    p, q = p / p.sum(), q / q.sum()
    seen = heads(drafted(p, q, 1))
    assert seen.q[seen.names.index("0")] == pytest.approx(0, abs=1e-9)


def test_one_hot_laws_have_no_rest():
    seen = heads(drafted(np.eye(5)[1], np.eye(5)[2], 2))
    assert (seen.names, seen.p, seen.q) == (("1", "2"), (1, 0), (0, 1))
    assert seen.overlap == 0


def test_equal_laws_overlap_wholly():
    law = np.array([0.5, 0.25, 0.25])
    assert heads(drafted(law, law, 0)).overlap == 1


def test_another_rule_s_replacement_is_not_taken_for_a_residual():
    rng = np.random.default_rng(3)
    p, q = (random_law(rng, 50, 50, 2.0) for _ in range(2))
    token = drafted(p, q, int(q.argmax()))
    token = replace(token, residual_top=token.p_top)
    assert heads(token, rule="match").overlap is None


def test_a_trace_without_laws_says_so():
    token = replace(drafted(np.eye(3)[1], np.eye(3)[2], 2), p_top=None)
    with pytest.raises(ValueError, match="without the heads of its laws"):
        heads(token)


def test_invisible_characters_have_a_sign():
    token = drafted(np.eye(3)[1], np.eye(3)[1], 1)
    for text, shown in ((" a", "·a"), ("\n", "⏎"), ("", "⋯"), ("\u202eabc", "U+202Eabc")):
        entries = ((1, text, 1.0),)
        head = replace(token.p_top, entries=entries)
        assert heads(replace(token, text=text, p_top=head, q_top=head)).names == (shown,)


def test_every_position_of_a_recorded_run_can_be_shown():
    trace = recordings.load("story", "sampled").speculative
    places = overlap_trace.places(trace)
    assert len(places) == sum(len(r.drafted) for r in trace.rounds) > 100
    for r, i in places:
        seen = heads(r.drafted[i], rule=r.rule)
        canvas._fixed(seen.p, seen.q, seen.names, Drop(seen.drafted))
        assert overlap_trace.fate(r, i) and overlap_trace.merged(seen)


def test_the_first_rejection_is_shown_first_unless_a_link_says_otherwise():
    trace = traces.sampled()
    places = overlap_trace.places(trace)
    r, i = places[overlap_trace.first_shown(places, Position(0, 0))]
    assert r.drafted[i].verdict == "rejected"
    assert all(x.verdict != "rejected" for y in trace.rounds[: r.index] for x in y.drafted)
    at = overlap_trace.first_shown(places, Position(2, 3))
    assert (places[at][0].index, places[at][1]) == (1, 2)


@pytest.mark.parametrize("text", ["`", "a ``` b `", "*a* <b>", "$x$", "\n", "", "[a](b)"])
def test_token_text_cannot_leave_its_code(text):
    code = overlap_trace.code(text)
    fence = code.split(" ")[0]
    inner = code.removeprefix(f"{fence} ").removesuffix(f" {fence}")
    assert set(fence) == {"`"} and fence not in inner
    assert inner.strip() and "\n" not in inner


# Trials.


def test_three_hundred_trials_are_computed_each_time(monkeypatch):
    done = trials(300, 29)
    assert (done.n, done.equal) == (300, 300)
    assert done == trials(300, 29) and done != trials(300, 1)
    assert 50 < done.with_zero < 300
    monkeypatch.setattr(rule, "residual", lambda p, q: p)  # a wrong rule is found out
    assert trials(300, 29).equal < 100
    with pytest.raises(ValueError, match="n is 0"):
        trials(0, 1)


def test_a_random_pair_is_two_laws():
    rng = random.Random(0)
    for _ in range(100):
        p, q = random_pair(rng)
        assert sum(p.values()) == sum(q.values()) == 1 and 2 <= len(p) <= 5 and list(p) == list(q)


# The page.


def shown(at, number: int = 0) -> dict:
    """What the page sent to its canvases."""
    found = [json.loads(c.proto.json) for c in at.get("bidi_component")]
    return [data for data in found if "laws" in data][number]


def links(at) -> list[str]:
    return [c.value for c in at.code if "rule?" in c.value]


def test_the_page_opens_on_the_article_s_example(app):
    at = app(PAGE)
    assert not at.exception and not at.error
    laws = shown(at)["laws"]
    assert laws["names"] == ["held", "cooled", "shone"]
    assert (laws["p"], laws["q"]) == (["3/5", "3/10", "1/10"], ["1/5", "7/10", "1/10"])
    assert [p["title"] for p in shown(at)["presets"]] == [e.title for e in examples()]
    assert shown(at, 1)["exact"] is False


def test_the_three_hundred_trials_run_on_the_page(app):
    at = app(PAGE)
    at.button(key="rule trials").click().run()
    assert not at.exception
    assert any("300 of 300" in m.value for m in at.markdown)


def test_a_link_restores_laws_temperature_and_place(app):
    text = "a,b,c,d|1/3,1/3,1/3,0|1/7,2/7,4/7,0|2,0.25,0.9"
    at = app(PAGE, prompt=text, T="0.5", round="3", step="2", seed="7", link="1")
    assert not at.exception and not at.info
    laws = shown(at)["laws"]
    assert (laws["q"], laws["T"], laws["x"]) == (["1/7", "2/7", "4/7", "0"], 0.5, 2)
    assert (laws["u"], laws["w"]) == (250, 900)
    [link] = links(at)
    params = dict(parse_qsl(urlsplit(link).query))
    assert params["prompt"] == text
    assert (params["T"], params["seed"]) == ("0.5", "7")
    assert (params["round"], params["step"]) == ("3", "2")
    assert shown(app(PAGE, **params)) == shown(at)


@pytest.mark.parametrize("text", ["<b>", "a|b", "a,b,c|1,0,0|2,0,0", "a,b,c|1,0,0|1,0,0|9,0,0"])
def test_a_link_without_laws_says_so_and_shows_the_first_example(app, text):
    at = app(PAGE, prompt=text, T="x", round="-1", step="99999999")
    assert not at.exception
    assert BAD in at.info[0].value and "<b>" not in at.info[0].value
    assert shown(at)["laws"]["names"] == list(HELD.names)


def test_what_the_reader_set_goes_into_the_link(app):
    at = app(PAGE)
    mine = overlap_laws.read("x,y,z|1/2,1/4,1/4|0,1/2,1/2|0,0.1,0.2", 0.3)
    at.session_state["canvas"] = {"laws": canvas._wire(mine) | canvas._pins(mine.drop)}
    at.run()
    assert not at.exception
    params = dict(parse_qsl(urlsplit(links(at)[0]).query))
    assert (params["prompt"], params["T"]) == (mine.write(), "0.3")
    assert shown(at)["laws"]["names"] == list(
        HELD.names
    )  # the browser is ahead: it is not overruled


def test_a_browser_s_nonsense_leaves_the_page_whole(app):
    at = app(PAGE)
    at.session_state["canvas"] = {"laws": {"names": "<script>"}}
    at.run()
    assert not at.exception
    assert dict(parse_qsl(urlsplit(links(at)[0]).query))["prompt"] == HELD.write()


def test_half_way_laws_leave_the_page_whole(app):
    at = app(PAGE, prompt="a,b,c|1/2,1/2,1/10|0,0,0", T="0.5")
    assert not at.exception
    assert shown(at)["laws"]["p"] == ["1/2", "1/2", "1/10"]
