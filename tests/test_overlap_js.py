"""The overlap canvas without a browser: in node its arithmetic is that of specdec, exactly."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction as F
from math import prod
from typing import Any

import numpy as np
import pytest

from specdec import fractions_text, rule
from specdec.law import Sampling, draw
from specdec.ui import component, overlap, overlap_laws

SCRIPT = """
const js = await import("data:text/javascript," + encodeURIComponent(data.script));
const { input } = data, { EXACT, FLOAT, textOf } = js;
const law = (xs) => xs.map((x) => js.parseRatio(x, 1000));
const texts = (xs) => xs.map(textOf);
const sceneOf = ({ names, p, q, T = 1 }) =>
  js.sceneOf({ names, p: law(p), q: law(q), T, exact: true });
const tried = (f) => (text) => {
  try { return f(text); } catch (error) { return "! " + error.message; }
};
give((() => { %s })());
"""


@pytest.fixture(scope="module")
def js(node) -> Callable[..., Any]:
    """What a JavaScript function body returns, given the canvas as shipped (`js`) and `input`."""
    text = component.script("overlap", overlap.MODULES)
    return lambda body, **given: node(SCRIPT % body, {"script": text, "input": given})


def random_law(rng: random.Random, n: int, most: int = 9) -> list[F]:
    weights = [rng.randint(0, most) for _ in range(n)]
    weights[rng.randrange(n)] += 1
    return [F(w, sum(weights)) for w in weights]


def one_hot(n: int, i: int) -> list[F]:
    return [F(int(j == i)) for j in range(n)]


def pairs(count: int, seed: int = 5) -> list[tuple[list[F], list[F]]]:
    """Random pairs over 3 to 8 tokens: zeros, equal laws, one-hot laws, fine denominators."""
    rng = random.Random(seed)
    made = []
    for i in range(count):
        n = rng.randint(3, 8)
        p, q = (random_law(rng, n, (9, 1, 997)[i % 3]) for _ in range(2))
        if i % 10 == 7:
            q = p
        if i % 10 == 8:
            q = one_hot(n, rng.randrange(n))
        if i % 10 == 9:
            p = one_hot(n, rng.randrange(n))
        made.append((p, q))
    return made


def texts(law: list[F]) -> list[str]:
    return [str(x) for x in law]


def wire(p: list[F], q: list[F], **others: Any) -> dict[str, Any]:
    return {"names": list("abcdefgh"[: len(p)]), "p": texts(p), "q": texts(q)} | others


ARTICLE = overlap_laws.examples()[0].laws
HELD = wire(list(ARTICLE.p), list(ARTICLE.q)) | {"names": list(ARTICLE.names)}


# The rule.


def facts_of(p: list[F], q: list[F]) -> dict[str, Any]:
    """What specdec.rule says, as text; differences taken here."""
    P, Q = dict(enumerate(p)), dict(enumerate(q))
    written, residual = rule.output_distribution(P, Q), rule.residual(P, Q)
    ids = range(len(p))
    return {
        "kept": [str(min(p[i], q[i])) for i in ids],
        "over": [str(max(q[i] - p[i], 0)) for i in ids],
        "gap": [str(max(p[i] - q[i], 0)) for i in ids],
        "accept": [str(rule.acceptance(P, Q, i)) for i in ids],
        "residual": [str(residual[i]) for i in ids],
        "written": [str(written[i]) for i in ids],
        "alpha": str(rule.overlap(P, Q)),
        "rejected": str(1 - rule.overlap(P, Q)),
        "missing": str(sum(abs(a - b) for a, b in zip(p, q)) / 2),  # total variation
    }


def test_five_hundred_pairs_agree_with_python_in_every_fraction(js):
    given = pairs(500)
    assert sum(0 in p and 0 in q for p, q in given) > 50
    found = js(
        """return input.pairs.map(([p, q]) => {
          const facts = Object.entries(js.factsOf(EXACT, law(p), law(q)));
          const text = (x) => Array.isArray(x) ? texts(x) : textOf(x);
          return Object.fromEntries(facts.map(([name, x]) => [name, text(x)]));
        })""",
        pairs=[[texts(p), texts(q)] for p, q in given],
    )
    for (p, q), facts in zip(given, found):
        assert facts == facts_of(p, q)
        assert facts["written"] == texts(p)


def test_floats_agree_to_twelve_digits(js):
    given = [tuple(np.array(law, dtype=float) for law in pair) for pair in pairs(200, seed=6)]
    found = js(
        "return input.pairs.map(([p, q]) => js.factsOf(FLOAT, p, q))",
        pairs=[[p.tolist(), q.tolist()] for p, q in given],
    )
    for (p, q), facts in zip(given, found):
        assert facts["alpha"] == pytest.approx(rule.overlap(p, q), abs=1e-12)
        chances = [rule.acceptance(p, q, i) for i in range(len(p))]
        assert facts["accept"] == pytest.approx(chances, abs=1e-12)
        assert facts["written"] == pytest.approx(p.tolist(), abs=1e-12)


def test_the_flows_carry_all_that_is_rejected_to_all_that_is_missing(js):
    given = pairs(100, seed=7)
    scenes = [wire(p, q) for p, q in given]
    found = js("return input.scenes.map((s) => js.flowsOf(sceneOf(s)))", scenes=scenes)
    assert any(len(flows) > 4 for flows in found)
    for (p, q), flows in zip(given, found):
        for i in range(len(p)):
            left = sum(flow["mass"] for flow in flows if flow["from"] == i)
            came = sum(flow["mass"] for flow in flows if flow["to"] == i)
            assert left == pytest.approx(float(max(q[i] - p[i], 0)), abs=1e-7)
            assert came == pytest.approx(float(max(p[i] - q[i], 0)), abs=1e-7)


def test_a_drop_is_decided_as_in_the_engine(js):
    rng = random.Random(8)
    given, laws = [], pairs(150, seed=9)
    for p, _ in laws:
        given.append([rng.randrange(len(p)), rng.randrange(1000), rng.randrange(1000)])
    found = js(
        "return input.scenes.map((s, i) => js.dropOf(sceneOf(s), ...input.drops[i]))",
        scenes=[wire(p, q) for p, q in laws],
        drops=given,
    )
    for (p, q), (x, u, w), drop in zip(laws, given, found):
        P, Q = dict(enumerate(p)), dict(enumerate(q))
        accepted = F(u, 1000) < rule.acceptance(P, Q, x)
        residual = rule.residual(P, Q)
        masses = np.cumsum([residual[i] for i in range(len(p))])
        replacement = next(i for i, mass in enumerate(masses) if F(w, 1000) < mass)
        assert drop["drafted"] is (q[x] > 0)
        assert drop["accepted"] is bool(accepted)
        assert drop["replacement"] == replacement
        assert drop["out"] == (x if accepted else replacement)


def test_a_draw_is_the_engine_s_draw(js):
    laws = [[float(x) for x in p] for p, _ in pairs(100, seed=10)]
    us = [random.Random(i).random() for i in range(100)]
    found = js(
        "return input.laws.map((l, i) => js.drawOf(FLOAT, l, input.us[i]))", laws=laws, us=us
    )
    assert found == [draw(np.array(law), u) for law, u in zip(laws, us)]


def test_on_an_edge_the_test_fails_and_the_next_token_is_drawn(js):
    drop, zero = js(
        """const drops = (s) => js.dropOf(sceneOf(s), 0, 500, 500);
        return [drops(input), js.drawOf(EXACT, law(["1/2", "0", "1/2"]), EXACT.of(500, 1000))]""",
        **wire([F(1, 4), F(3, 8), F(3, 8)], [F(1, 2), F(1, 4), F(1, 4)]),
    )
    assert drop == {
        "drafted": True,
        "possible": True,
        "accepted": False,
        "replacement": 2,
        "out": 2,
    }
    assert zero == 2


# Temperature.


@pytest.mark.parametrize("temperature", [0.0, 1e-8, 9e-6, 1e-4, 0.05, 0.5, 1.0, 1.7, 2.0])
def test_temperature_is_the_law_of_the_engine(js, temperature):
    laws = [p for p, _ in pairs(60, seed=11)] + [[F(1, 4), F(3, 8), F(3, 8)]]
    found = js(
        """const number = (x) => typeof x === "number" ? x : EXACT.value(x);
        return input.laws.map((l) => js.temper(law(l), input.T).map(number))""",
        laws=[texts(p) for p in laws],
        T=temperature,
    )
    with np.errstate(divide="ignore"):
        for p, law in zip(laws, found):
            expected = Sampling(temperature=temperature).law(np.log(np.array(p, dtype=float)))
            assert law == pytest.approx(expected.tolist(), abs=1e-12)


def test_greedy_takes_the_first_of_equals_and_stays_exact(js):
    law = [F(1, 4), F(3, 8), F(3, 8)]
    found = js("return texts(js.temper(law(input.law), 0))", law=texts(law))
    assert found == ["0", "1", "0"]


def test_alpha_goes_to_its_greedy_limit(js):
    alphas = js("return js.alphasAt(law(input.p), law(input.q), [1, 0.1, 0.01])", **HELD)
    assert alphas == pytest.approx([0.6, alphas[1], 0], abs=1e-12)
    assert 0 < alphas[1] < 0.01
    [scene] = js("return [sceneOf({ ...input, T: 0 })].map((s) => textOf(s.facts.alpha))", **HELD)
    assert scene == "0"


# Dragging and typing.


def test_a_moved_bar_leaves_a_law_in_hundredths_with_the_others_in_proportion(js):
    rng = random.Random(12)
    laws = [p for p, _ in pairs(300, seed=13)]
    moves = [[rng.randrange(len(p)), rng.randint(0, 100)] for p in laws]
    found = js(
        "return input.laws.map((l, i) => texts(js.moved(law(l), ...input.moves[i])))",
        laws=[texts(p) for p in laws],
        moves=moves,
    )
    for old, (i, hundredths), new in zip(laws, moves, found):
        new = [F(x) for x in new]
        if old[i] == F(hundredths, 100):
            assert new == old
            continue
        assert sum(new) == 1 and new[i] == F(hundredths, 100)
        assert all(100 % x.denominator == 0 for x in new)
        left = 1 - old[i]
        for j in set(range(len(old))) - {i}:
            share = old[j] / left if left else F(1, len(old) - 1)
            assert abs(new[j] - share * (1 - new[i])) < F(1, 100)
            assert new[j] == 0 or share > 0  # a zero stays a zero


def test_with_a_wrong_sum_a_bar_moves_alone(js):
    found = js("return texts(js.moved(law(['1/2', '1/2', '1/10']), 0, 30))")
    assert found == ["3/10", "1/2", "1/10"]


def test_a_bar_moved_to_and_fro_ends_where_it_began(js):
    found = js(
        """const s = { state: { p: law(input.p) }, base: null };
        s.change = (part) => Object.assign(s.state, part);
        return [40, 100, 0, 57, 25].map((to) => (js.setBar(s, "p", 1, to), texts(s.state.p)))""",
        p=["1/2", "1/4", "1/8", "1/8"],
    )
    assert found[1] == ["0", "1", "0", "0"]
    assert found[3] != found[4] == ["1/2", "1/4", "1/8", "1/8"]


@pytest.mark.parametrize(
    ("at", "by", "to"),
    [("3/5", 1, 61), ("3/5", -10, 50), ("0", -1, 0), ("1", 10, 100), ("999/1000", 1, 100)],
)
def test_a_key_moves_to_the_next_hundredth(js, at, by, to):
    assert js("return js.stepped(law([input.at])[0], input.by)", at=at, by=by) == to


def test_keys_are_those_of_a_slider_and_leave_the_browser_its_own(js):
    found = js(
        """const key = (key, more = {}) => js.stepOf({ key, ...more });
        return [key("ArrowRight"), key("ArrowLeft", { shiftKey: true }), key("PageUp"), key("Tab"),
          key("ArrowRight", { altKey: true }), key("Home") === -Infinity]"""
    )
    assert found == [1, -10, 10, None, None, True]


def test_normalising_divides_by_the_sum_and_cannot_mend_nothing(js):
    found = js(
        """const zeros = law(["0", "0", "0"]);
        return [texts(js.normalised(law(["1/2", "1/2", "1/10"]))), js.normalised(zeros)]"""
    )
    assert found == [["5/11", "5/11", "1/11"], None]


TYPED = [
    *("6/10", " 0.6 ", "60 %", "60%", ".5", "0,6", "1", "0", "0/7", "1/3", "12.5 %", "-0", "100 %"),
    *("", "  ", "abc", "6/0", "7/5", "1.2", "-1/10", "−0.1", "120 %", "1/2/3", "0x1", "1e-1", "½"),
    *("1/2 %", ".", "%", "١/٢", "1234567890123", "9" * 40, "<b>0.5</b>", "1 / 4", "3⁄4", "0.5.1"),
    *("😀" * 30, "1_0", "+1", "1,5,0", "5.", "Infinity", "nan"),
]


def test_typed_numbers_are_read_alike_and_refused_in_the_same_words(js):
    found = js(
        "return input.typed.map(tried((text) => textOf(js.parseRatio(text))))",
        typed=TYPED,
    )
    for text, answer in zip(TYPED, found):
        try:
            assert answer == str(fractions_text.parse(text)), text
        except ValueError as error:
            assert answer == f"! {error}", text
    assert sum(answer.startswith("!") for answer in found) > 20


def test_names_are_checked(js):
    found = js(
        "return input.typed.map(tried((text) => js.nameOf(text, ['held', 'cooled'], 1)))",
        typed=["  rain ", "cooled", "held", "", "a,b", "a|b", "thirteen long", "<b>x</b>"],
    )
    assert found[:2] == ["rain", "cooled"] and found[-1] == "<b>x</b>"
    assert all(answer.startswith("! ") for answer in found[2:7])


# Words.


def test_the_algebra_of_the_article_s_example(js):
    steps = js("return js.algebraOf(sceneOf(input), 1)", **HELD)
    assert [step["lines"] for step in steps[:4]] == [
        ["7/10 · 3/7 = 3/10"],
        ["1/5 + 3/10 + 1/10 = 3/5"],
        ["1 − 3/5 = 2/5 = 2/5 + 0 + 0"],
        ["0 / (2/5) = 0"],
    ]
    assert [(x["name"], x["text"], x["mark"]) for x in steps[4]["lines"]] == [
        ("held", "1/5 + 2/5 · 1 = 3/5", "= p ✓"),
        ("cooled", "3/10 + 2/5 · 0 = 3/10", "= p ✓"),
        ("shone", "1/10 + 2/5 · 0 = 1/10", "= p ✓"),
    ]


def test_every_line_of_the_algebra_is_true_and_ends_in_p(js):
    given = pairs(120, seed=14)
    found = js(
        "return input.scenes.map((s) => s.names.map((_, x) => js.algebraOf(sceneOf(s), x)))",
        scenes=[wire(p, q) for p, q in given],
    )
    for (p, q), by_token in zip(given, found):
        for x, steps in enumerate(by_token):
            for step in steps[:4]:
                _check(step["lines"][0], asked=p != q)
            for i, line in enumerate(steps[4]["lines"]):
                assert _check(line["text"]) == p[i]
                assert line["mark"] == "= p ✓"
            assert str(min(p[x], q[x])) == steps[0]["lines"][0].split(" = ")[1]


def _check(line: str, asked: bool = True) -> F | None:
    """The value of a line "a · b = c = d", every side computed."""
    if not asked and line.startswith("nothing"):
        return None
    sides = [_value(side) for side in line.split(" = ")]
    assert len(sides) > 1 and len(set(sides)) == 1, line
    return sides[-1]


def _value(side: str) -> F:
    """Of "a + b · c", "1 − a", "a / (b/c)", "a"."""
    if " / " in side:
        above, below = side.split(" / ")
        return F(above) / F(below.strip("()"))
    if " − " in side:
        first, second = side.split(" − ")
        return F(first) - F(second)
    return sum((prod(map(F, term.split(" · "))) for term in side.split(" + ")), F(0))


def test_wrong_sums_are_said_and_nothing_is_derived(js):
    bad = wire([F(1, 2), F(1, 2), F(1, 10)], [F(1, 5), F(3, 10), F(1, 5)])
    faults, facts, say = js(
        "const s = sceneOf(input); return [js.faultsOf(s), s.facts, js.sayOf(4, s)]", **bad
    )
    assert [fault["law"] for fault in faults] == ["p", "q"]
    assert faults[0]["text"] == "p sums to 11/10 = 1.1, 1/10 too much: it is not a law yet."
    assert faults[1]["text"] == "q sums to 7/10 = 0.7, 3/10 too little: it is not a law yet."
    assert facts is None and say.startswith("Mend the sums first")


def test_the_live_region_and_the_picture_are_words(js):
    sums, words = js("const s = sceneOf(input); return [js.sumsOf(s), js.describe(s)]", **HELD)
    assert "Overlap α = Σ min(p, q) = 3/5 = 0.6." in sums
    assert "Total variation = 1 − α = 2/5 = 0.4." in sums
    assert "cooled\u2069”: p 3/10, q 7/10, kept 3/10, rejected 2/5" in words
    assert "held\u2069”: p 3/5, q 1/5, kept 1/5, missing 2/5" in words


def test_no_sentence_calls_a_float_exact(js):
    heat, lines = js(
        "const s = sceneOf({ ...input, T: 0.5 }); return [js.heatOf(s), js.algebraOf(s, 1)]", **HELD
    )
    assert "no longer exact fractions" in heat
    assert all("=" not in line for step in lines[:4] for line in step["lines"])
    assert all(line["mark"] == "≈ p ✓" for line in lines[4]["lines"])


def test_digits_are_never_a_false_zero_or_one(js):
    found = js(
        "return [0, 1, 0.6, 1e-7, 0.00005, 0.99999, 0.99994, 0.33333].map(js.digitsOf)",
    )
    assert found == ["0", "1", "0.6", "1e−7", "0.0001", "≈1", "0.9999", "0.3333"]


def test_the_component_is_one_module_without_imports_markup_or_addresses():
    text = component.script("overlap", overlap.MODULES)
    assert "\nimport " not in text and not text.startswith("import ")
    assert "innerHTML" not in text and "insertAdjacentHTML" not in text
    assert [line for line in text.splitlines() if "http" in line] == [
        'const SVG = "http://www.w3.org/2000/svg";'
    ]
