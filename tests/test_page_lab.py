"""The lab's panels without a browser: exact tables, draws, stories, and the real pair's results."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest

from specdec import lab
from specdec.lab import overlaps, sequences, stored
from specdec.lab.experiment import Asked, run
from specdec.lab.stories import stories
from specdec.law import Sampling
from specdec.presets import Preset
from specdec.ui import engine, lab_charts, lab_words
from specdec.ui.lab_pair import same_pairs
from tests.pairs_np import Pair, drafting, random_model

pytestmark = pytest.mark.long

PAGE = "pages/3_rule.py"
ALL = tuple(r.name for r in lab.RULES)


def asked(rules=ALL, n: int = 1000, seed: int = 0, p=(5, 3, 2), q=(2, 3, 5)) -> Asked:
    laws = (tuple(F(x, 10) for x in law) for law in (p, q))
    return Asked(tuple(rules), tuple("abc"[: len(p)]), *laws, n, seed)


def found(request: Asked, cancel_after: int = 10**9):
    seen: list[float] = []
    result = run(request, lambda share, _: seen.append(share), lambda: len(seen) >= cancel_after)
    return result, seen


def wait(at, key: str):
    """Let the work of a button end, then look again."""
    at.session_state[key].wait()
    return at.run()


def tables(at) -> list[str]:
    return [table.value.to_string() for table in at.table]


# ---- an experiment ---------------------------------------------------------------------------


def test_every_rule_is_drawn_and_told_of() -> None:
    result, seen = found(asked())
    assert tuple(result.one) == ALL
    assert tuple(result.two) == ("pq", "match", "block")
    assert seen == sorted(seen)
    assert seen[-1] == 1
    assert all(draws.n == 1000 for draws in (*result.one.values(), *result.two.values()))


def test_a_cancelled_experiment_keeps_what_it_drew() -> None:
    result, _ = found(asked(n=10**6), cancel_after=1)
    [draws] = result.one.values()
    assert 0 < draws.n < 10**6
    assert not result.two
    lab_charts.errors(result)
    assert "cut short" not in lab_words.errors_alt(result)


def test_an_experiment_refuses_nonsense_in_words() -> None:
    with pytest.raises(ValueError, match="2000000 draws"):
        asked(n=2_000_000)
    with pytest.raises(ValueError, match="no rule 'luck'"):
        asked(rules=["luck"])


def test_every_rule_has_a_story_and_every_wrong_one_a_cure() -> None:
    assert tuple(stories()) == ALL
    for r in lab.RULES:
        story = stories()[r.name]
        told = [story.symptom, story.seen, story.cause, story.cure]
        assert story.does
        assert r.lossless or all(told), r.name
        assert not (r.lossless and (story.symptom or story.cure))


def test_the_charts_hold_what_was_drawn() -> None:
    result, _ = found(asked(n=5000))
    bars = {t.name: t for t in lab_charts.shares(result).data if t.type == "bar"}
    assert len(bars) == len(ALL) == len({(b.marker.color) for b in bars.values()})
    assert list(bars["✗ Replace from p"].y) == [c / 5000 for c in result.one["from p"].counts]
    lines = {t.name: t for t in lab_charts.errors(result).data if t.name}
    assert tuple(zip(lines["✗ Replace from p"].x, lines["✗ Replace from p"].y)) == (
        result.one["from p"].points
    )
    limits = [t.y[0] for t in lab_charts.errors(result).data if "limit" in (t.name or "")]
    assert limits[0] == 0.15  # replace from p, on toy A: computed
    assert len(limits) == sum(not r.lossless for r in lab.RULES)
    for alt in (lab_words.shares_alt(result), lab_words.errors_alt(result)):
        assert "Replace from p" in alt


def test_charts_of_a_sure_target_have_no_zero_on_a_logarithmic_axis() -> None:
    result, _ = found(asked(p=(10, 0, 0)))
    for trace in lab_charts.errors(result).data:
        assert all(y is None or y > 0 for y in trace.y or ())


def test_fractions_are_shown_where_short() -> None:
    assert lab_words.exact(F(31, 80)) == "31/80"
    assert lab_words.exact(0.1) == "0.1"
    assert lab_words.exact(F(1, 3)) == "1/3"


def test_a_wrong_rule_that_happens_to_be_right_is_not_called_right() -> None:
    sure = asked(p=(5, 3, 2), q=(10, 0, 0))
    assert lab_words.verdict("only x", sure) == "= p, by luck of these laws"
    assert lab_words.verdict("pq", sure) == "✓ exactly p"
    assert lab_words.verdict("from p", asked()) == "✗ off by 3/20"


# ---- the page --------------------------------------------------------------------------------


def test_the_page_opens_with_the_exact_limits_and_no_chart(app) -> None:
    at = app(PAGE)
    assert not at.exception
    [table] = tables(at)
    assert "Replace from p" in table
    assert "11/25" in table
    assert "✗ off by 4/25" in table
    assert not at.get("plotly_chart")


def test_drawing_shows_charts_tables_and_alternative_texts(app) -> None:
    at = app(PAGE)
    at.button("lab start").click().run()
    at = wait(at, "lab")
    assert not at.exception
    charts = at.get("plotly_chart")
    assert len(charts) == 2
    assert all(len(chart.proto.alt) > 40 for chart in charts)
    shown = "\n".join(tables(at))
    assert "inside the band" in shown
    assert "✗ above the band" in shown
    assert "26/25 = 1.0400" in shown  # block verification, of two


def test_other_laws_rules_numbers_and_seeds(app) -> None:
    at = app(PAGE)
    at.selectbox("lab laws").set_value("Toy A")
    at.select_slider("lab n").set_value(1000)
    at.number_input("lab seed").set_value(5)
    at.run()
    at.button("lab start").click().run()
    at = wait(at, "lab")
    result = at.session_state["lab"].result
    assert (result.asked.n, result.asked.seed) == (1000, 5)
    assert result.asked.p == (F(1, 2), F(3, 10), F(1, 5))
    assert "7/20" in tables(at)[0]
    at.number_input("lab seed").set_value(6).run()
    assert any("other settings" in caption.value for caption in at.caption)


def test_laws_that_are_none_are_named_and_can_be_replaced(app) -> None:
    at = app(PAGE, prompt="a,b,c|1/2,1/4,1/8|1/3,1/3,1/3")
    assert not at.exception
    assert any("p sums to 0.875" in info.value for info in at.info)
    at.selectbox("lab laws").set_value("Toy A").run()
    assert "exactly p" in tables(at)[0]


def test_no_rule_chosen_is_said(app) -> None:
    at = app(PAGE)
    for group in at.pills:
        group.set_value([])
    at.run()
    assert not at.exception
    assert any("at least one rule" in info.value for info in at.info)


def test_a_temperature_reaches_the_lab(app) -> None:
    at = app(PAGE, T="0")
    assert not at.exception
    assert "✓ exactly p" in tables(at)[0]
    at.button("lab start").click().run()
    at = wait(at, "lab")
    assert not at.exception
    assert at.session_state["lab"].result.asked.p == (1, 0, 0)


# ---- the real pair's panels ------------------------------------------------------------------


@pytest.fixture
def tiny(monkeypatch) -> Pair:
    """A NumPy pair in place of the real one."""
    target = random_model(270, seed=4, sharpness=4.0, name="tiny")
    pair = Pair(target, drafting(target, error=1.0, token_ids=range(0, 270, 2)))
    monkeypatch.setattr(engine, "load", lambda: pair)
    monkeypatch.setattr(stored, "PROMPT", "the kiln")
    return pair


def test_sequences_of_a_pair_are_its_exact_law(tiny: Pair) -> None:
    """n = 300 in each way, seed 0: total variation within the 99 % band of honest draws."""
    from specdec.lab.band import band

    steps = list(
        sequences.draw(tiny, "the kiln", n=300, seed=0, sampling=Sampling(temperature=1.0, top_k=3))
    )
    last = steps[-1]
    assert len(steps) == 4 * 300
    assert [way.name for way in last.ways] == list(sequences.WAYS)
    cells = np.array(list(last.cells.values()))
    assert len(cells) == 9
    assert cells.sum() == pytest.approx(1)
    prompt = tiny.tokenizer("the kiln")["input_ids"]
    oracle = Sampling(temperature=1.0, top_k=3)
    first = oracle.law(tiny.target.after(prompt))
    for branch in last.law:
        assert branch.p == pytest.approx(first[branch.token.id])
        second = oracle.law(tiny.target.after([*prompt, branch.token.id]))
        assert {t.id: p for t, p in branch.then} == pytest.approx(
            {i: second[i] for i in np.flatnonzero(second)}
        )
    edges = band(cells, [300])
    for way in last.ways:
        assert way.n == 300
        assert last.shares(way).sum() == pytest.approx(1)  # nothing outside the law
        assert np.abs(last.shares(way) - cells).sum() / 2 < edges.high[0]
    ways = {way.name: way for way in last.ways}
    assert ways["match"].drawn == ways["plain"].drawn
    assert ways["plain"].accepted == ways["plain"].rejected == 0
    assert ways["pq"].accepted > ways["match"].accepted > 0
    assert "very same" in same_pairs(last)


def test_a_held_prompt_is_not_computed_twice(tiny: Pair) -> None:
    sampling = Sampling(temperature=1.0, top_k=3)
    for _ in sequences.draw(tiny, "the kiln", n=5, seed=0, sampling=sampling):
        pass
    target, small = tiny.target.scorers[-1], tiny.draft.scorers[-1]
    assert max(target.fed[1:]) <= 1 + sequences.DRAFTED
    assert max(small.fed[1:]) <= 2
    with pytest.raises(ValueError, match="another prompt"):
        sequences.Prompted(tiny.target.scorer(), [2, 3]).again().feed([9])


def test_too_many_pairs_to_show_are_refused(tiny: Pair) -> None:
    with pytest.raises(ValueError, match="top_k is 0"):
        next(sequences.draw(tiny, "the", n=1, seed=0, sampling=Sampling(temperature=1.0)))


def test_the_recorded_sequences_and_curves_open_on_request(app) -> None:
    at = app(PAGE)
    before = len(at.get("plotly_chart"))
    at.session_state["pairs open"] = at.session_state["overlaps open"] = True
    at.run()
    assert not at.exception
    assert before == 0
    assert len(at.get("plotly_chart")) == 4
    assert all(len(chart.proto.alt) > 40 for chart in at.get("plotly_chart"))
    assert sum(caption.value.startswith("**Recorded**") for caption in at.caption) >= 2
    assert any("very same" in text.value for text in at.markdown)


def test_sequences_are_drawn_anew_on_request(app, tiny: Pair, monkeypatch) -> None:
    monkeypatch.setattr(stored, "SAMPLING", Sampling(temperature=1.0, top_k=2))
    at = app(PAGE)
    at.session_state["pairs open"] = True
    at.run()
    at.select_slider("pairs n").set_value(50).run()
    at.button("pairs start").click().run()
    at = wait(at, "pairs")
    assert not at.exception
    result = at.session_state["pairs"].result
    assert [way.n for way in result.ways] == [50] * 4
    assert any(caption.value.startswith("**Live**") for caption in at.caption)


def test_curves_are_measured_anew_on_request(app, tiny: Pair, monkeypatch) -> None:
    from specdec.ui import lab_settings

    monkeypatch.setattr(lab_settings, "presets", lambda: PRESETS)
    at = app(PAGE)
    at.session_state["overlaps open"] = True
    at.run()
    at.button("overlaps start").click().run()
    at = wait(at, "overlaps")
    assert not at.exception
    assert at.session_state["overlaps"].result.positions == 48


def test_a_pair_that_cannot_be_had_is_a_sentence(app, monkeypatch) -> None:
    def missing():
        raise OSError("The target is not here.")

    monkeypatch.setattr(engine, "load", missing)
    at = app(PAGE)
    at.session_state["pairs open"] = True
    at.run()
    at.button("pairs start").click().run()
    at = wait(at, "pairs")
    assert not at.exception
    assert [error.value for error in at.error] == ["The target is not here."]
    assert any(caption.value.startswith("**Recorded**") for caption in at.caption)


PRESETS = (Preset("one", "One", False, "the kiln"), Preset("two", "Two", False, "the sky is"))


def test_overlaps_are_those_of_the_laws(tiny: Pair) -> None:
    steps = list(overlaps.measure(tiny, PRESETS, each=6))
    shares = [share for share, _ in steps]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    last = steps[-1][1]
    assert last.positions == 12
    assert [s.setting for s in last.sweeps] == list(overlaps.SWEEPS)
    curves = {s.setting: {point.value: point for point in s.points} for s in last.sweeps}
    for setting, values in overlaps.SWEEPS.items():
        assert tuple(curves[setting]) == values
    at_rest = curves["temperature"][1.0]
    assert at_rest.alpha == curves["top_p"][1.0].alpha  # the same settings by two names
    assert at_rest.alpha[0] == at_rest.alpha[1]  # nothing to be ignored
    cold = curves["temperature"][0.0]
    assert cold.alpha[0] == cold.alpha[2]  # greedy both
    assert all(0 <= a <= 1 for s in last.sweeps for point in s.points for a in point.alpha)


def test_one_position_by_hand(tiny: Pair) -> None:
    logits = np.log(np.array([0.5, 0.3, 0.2])), np.log(np.array([0.2, 0.8]))
    at = overlaps.Position(*logits, np.array([0, 2]))  # the drafter knows tokens 0 and 2
    same, open_, greedy = overlaps._alphas(at, Sampling(temperature=1.0, top_k=2))
    assert same == pytest.approx(0.2)  # p = 5/8, 3/8, 0
    assert open_ == pytest.approx(0.2)
    assert greedy == 0  # token 2 is cut from p


def test_recordings_go_to_files_and_back(tiny: Pair, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(stored, "presets", lambda: PRESETS)
    monkeypatch.setattr(stored, "SAMPLING", Sampling(temperature=1.0, top_k=3))
    monkeypatch.setattr(overlaps, "SWEEPS", {"temperature": (0.0, 1.0)})
    files = stored.record(tiny, tmp_path, n=3, seed=0, when="2026-01-01")
    for file, kind in zip(files, (sequences.Sequences, overlaps.Overlaps)):
        text = file.read_text(encoding="utf-8")
        result = stored.read(kind, text)
        assert stored.write(result) == text
        assert (result.source.kind, result.source.when) == ("recorded", "2026-01-01")
        with pytest.raises(ValueError, match="not JSON"):
            stored.read(kind, text[:-9])
        with pytest.raises(ValueError, match="unknown field 'more'"):
            stored.read(kind, json.dumps(json.loads(text) | {"more": 1}))


@pytest.mark.parametrize("name", stored.KINDS)
def test_the_shipped_recordings_are_whole(name: str) -> None:
    result = stored.load(name)
    assert result.source.kind == "recorded"
    if name == sequences.FILE:
        assert result.prompt == stored.PROMPT
        assert all(way.n >= 200 for way in result.ways)
        assert [way.name for way in result.ways] == list(sequences.WAYS)
        assert "very same" in same_pairs(result)
        for way in result.ways:
            assert result.shares(way).sum() == pytest.approx(1)
    else:
        assert [len(s.points) for s in result.sweeps] == [len(v) for v in overlaps.SWEEPS.values()]
        assert result.positions >= 100


def test_a_fault_in_match_would_be_said() -> None:
    result = stored.load(sequences.FILE)
    ways = [
        replace(way, drawn=result.ways[1].drawn) if way.name == "match" else way
        for way in result.ways
    ]
    assert same_pairs(replace(result, ways=tuple(ways))).startswith("✗")
