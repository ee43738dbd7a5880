"""The bench on NumPy models: arms, turns, counts, equality; its times are for real machines."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import specdec
from specdec.__main__ import main
from specdec.bench import bench
from specdec.bench_arms import Judged, Output, ours
from specdec.bench_peers import drafts_of, judged
from specdec.bench_results import agreement, predicted, rates
from specdec.bench_table import table, to_json
from specdec.compare import near_tie
from specdec.drafters import PromptLookup
from specdec.measure import Costs, predicted_speedup
from specdec.presets import Preset
from specdec.trace import Seconds
from tests.pairs_np import (
    ByteTokenizer,
    Pair,
    closed,
    drafting,
    random_model,
    run_rounds,
    text_pair,
    trace_of,
)

PROMPTS = [Preset("a", "A", False, "the kiln"), Preset("b", "B", False, "the sky is")]
KEYS = {"name", "tokens_per_s", "speedup", "predicted", "alpha", "draft_yield", "tokens_per_pass"}
KEYS |= {"target_passes", "equal"}


def make_pair():
    target = random_model(len(ByteTokenizer()), name="large")
    return Pair(target, drafting(target, error=0.5))


def measured(pair, prompts=PROMPTS, **options):
    return bench(pair, prompts, **{"k": 3, "max_new_tokens": 12, "repeats": 2} | options)


@pytest.fixture(scope="module")
def pair():
    return make_pair()


@pytest.fixture(scope="module")
def report(pair):
    return measured(pair, peers=False, policies=["ema c=0.5"])


class Peer:
    """An arm that notes when it ran and with what, and writes what `text` gives for it."""

    def __init__(self, name, log, text=lambda prompt, n: range(n)):
        self.name, self.log, self.text = name, log, text

    def run(self, prompt, n):
        self.log.append((self.name, len(prompt), n))
        tokens = tuple(self.text(prompt, n))
        return Output(tokens, 0.5, len(tokens))


def test_our_arms_write_the_same_text(report):
    names = ["bare", "plain", "model", "model-ema c=0.5", "lookup", "lookup-ema c=0.5"]
    assert [arm.name for arm in report.arms] == names
    assert all(arm.equal and not arm.parted and arm.gap is None for arm in report.arms)


def test_passes_are_counted_over_all_prompts(report):
    bare, plain, model, *_ = report.arms
    assert bare.target_passes == plain.target_passes == 24
    assert plain.tokens_per_pass == 1 and plain.alpha is None and plain.per_position == ()
    assert model.target_passes < 24 and model.draft_passes == 3 * model.target_passes
    assert model.tokens_per_pass == pytest.approx(24 / model.target_passes)


def test_rates_are_the_traces_own(pair):
    report = measured(pair, PROMPTS[:1], peers=False, repeats=1)
    for arm, k, drafter in zip(report.arms[2:], (3, 3), ("model", "lookup")):
        options = {"chat": False, "max_new_tokens": 12, "k": k, "drafter": drafter}
        trace = specdec.generate(pair, PROMPTS[0].prompt, **options)
        assert (arm.alpha, arm.draft_yield) == (trace.alpha, trace.draft_yield)
        assert (arm.per_position, arm.tokens_per_pass) == (
            trace.per_position,
            trace.tokens_per_pass,
        )
        assert (arm.target_passes, arm.draft_passes) == (trace.target_passes, trace.draft_passes)


def test_speed_ups_are_against_plain_in_the_same_repeat(report):
    plain = report.arms[1]
    assert plain.speedup == 1 and plain.spread == (1, 1)
    for arm in report.arms:
        assert 0 < arm.spread[0] <= arm.speedup <= arm.spread[1] and arm.tokens_per_s > 0
        assert arm.ms_per_pass * arm.tokens_per_s == pytest.approx(1000 * arm.tokens_per_pass)


def test_arms_take_turns_on_every_prompt():
    log = []
    measured(make_pair(), peers=[Peer("x", log), Peer("y", log)])
    short, long = (len(ByteTokenizer()(p.prompt)["input_ids"]) for p in PROMPTS)
    turn = [("x", short, 12), ("y", short, 12), ("x", long, 12), ("y", long, 12)]
    assert log == [("x", short, 12), ("y", short, 12), *turn, *turn], "a warm-up, two repeats"


@pytest.mark.parametrize(("spare", "fits"), [(0, True), (-1, False)])
def test_passes_are_measured_where_the_runs_are_and_a_short_context_is_told(spare, fits):
    pair = make_pair()
    lengths = [len(ByteTokenizer()(p.prompt)["input_ids"]) for p in PROMPTS]
    pair.target.context = max(lengths) + 8 + spare
    if not fits:
        with pytest.raises(ValueError, match=rf"A prompt of {max(lengths)} tokens and 8 more"):
            measured(pair, peers=False, max_new_tokens=8, repeats=1)
        return
    report = measured(pair, peers=False, max_new_tokens=8, repeats=1)
    assert report.length == min(round(sum(lengths) / 2) + 4, pair.target.context - 4)


def test_every_cache_is_freed():
    pair = make_pair()
    measured(pair, peers=False, repeats=1)
    assert closed(pair)


def test_a_peer_that_parts_is_not_equal_and_the_tie_is_told(pair):
    def other(prompt, n):
        tokens = list(specdec.plain(pair, prompt, max_new_tokens=n).token_ids)
        if len(prompt) == len(ByteTokenizer()(PROMPTS[1].prompt)["input_ids"]):
            tokens[5] += 1
        return tokens

    report = measured(pair, peers=[Peer("other", [], other)], repeats=1)
    plain = specdec.plain(pair, PROMPTS[1].prompt, chat=False, max_new_tokens=12)
    arm = report.arms[-1]
    assert (arm.name, arm.equal, arm.parted) == ("other", False, 1)
    assert arm.gap == near_tie(pair, plain, 5).gap
    assert "other: 1 of 2 texts part from plain decoding" in table(report)


def test_a_run_of_ours_that_parts_is_equal_if_it_is_at_one_fixed_shape(pair):
    [_, plain, model, *_] = ours(pair, 3)
    ids = ByteTokenizer()("the kiln")["input_ids"]
    a, b = model.run(ids, 12), plain.run(ids, 12)
    parted = replace(a, tokens=(*a.tokens[:-1], a.tokens[-1] + 1))
    cut = replace(a.trace, rounds=a.trace.rounds[:-1])
    equal, gaps = agreement(pair, [ids], [replace(parted, trace=cut)], [b])
    assert equal and len(gaps) == 1, "NumPy models have no other shape: both decode the same again"


def test_a_peer_that_cannot_decode_this_is_left_out_with_its_words(pair):
    def refuse(prompt, n):
        raise ValueError("The cache cannot be cropped.\nSee the manual.")

    report = measured(pair, peers=[Peer("unable", [], refuse)], repeats=1)
    assert report.left_out == (("unable", "The cache cannot be cropped."),)
    assert "unable is left out: The cache cannot be cropped." in table(report)
    assert "unable" not in {arm.name for arm in report.arms}


def test_the_report_is_json_with_the_promised_names(report):
    data = json.loads(to_json(report))
    assert {"dtype", "k", "overhead", "arms"} <= set(data)
    assert all(set(arm) >= KEYS for arm in data["arms"])
    assert data["overhead"] > 0 and data["overhead_sampling"] > 0
    assert data["costs"]["c"] == report.costs.c and data["costs"]["v"] == report.costs.v


def test_the_table_shows_every_arm(report):
    text = table(replace(report, machine="a test"))
    assert all(f"\n{arm.name} " in text for arm in report.arms) and "a test" in text


# ---- what became of a peer's drafts ------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 7, 20])
@pytest.mark.parametrize("error", [0.0, 0.5, 3.0])
def test_drafts_are_judged_from_ids_as_our_engine_judges_them(n, error):
    target = random_model(9)
    for drafter in (drafting(target, error=error), PromptLookup()):
        rounds = run_rounds(target, drafter, [1, 2, 1], k=4, n=n)
        trace = trace_of(rounds, [1, 2, 1])
        expected = tuple(Judged(r.accepted, r.rejected, r.counted) for r in rounds if r.drafted)
        drafts = [[token.id for token in r.drafted] for r in rounds]
        found = judged(drafts, trace.token_ids)
        assert found == expected
        judged_so = Output(trace.token_ids, 1.0, len(rounds), judged=found)
        expected = (trace.alpha, trace.draft_yield, trace.per_position)
        assert rates([judged_so]) == expected


def test_what_an_end_cuts_away_leaves_the_rates():
    drafted = text_pair("The kiln.", in_bytes=True)
    trace = specdec.generate(drafted.pair, drafted.prompt, k=4, max_new_tokens=40, chat=False)
    assert trace.stop_reason == "eos"
    found = judged([[t.id for t in r.drafted] for r in trace.rounds], trace.token_ids)
    output = Output(trace.token_ids, 1.0, trace.target_passes, judged=found)
    assert rates([output])[:2] == (trace.alpha, trace.draft_yield) == (1, 1)


def test_a_draft_is_what_a_pass_reads_after_the_text():
    assert drafts_of([[1, 2, 3, 7, 8], [9, 4], [5]], 3) == [[7, 8], [4], []]


# ---- predictions -------------------------------------------------------------------------------


def outputs(trace, prefill, seconds):
    trace = replace(trace, settings=replace(trace.settings, drafter="model"))
    first, *rest = trace.rounds
    rounds = (replace(first, seconds=Seconds(prefill=prefill)), *rest)
    tokens = trace.token_ids
    return [[Output(tokens, seconds, len(rounds), 0, replace(trace, rounds=rounds))]]


def test_a_prediction_takes_prefills_as_they_were():
    target, c = random_model(20), Costs(3, 1.0, 1.3, 0.1)
    fast = trace_of(run_rounds(target, drafting(target, error=0.3), [1], k=3, n=30))
    slow = trace_of(run_rounds(target, None, [1], k=0, n=30))
    s = predicted_speedup(fast, c)
    assert s > 1
    pure = predicted(outputs(fast, 0.0, 9.0), outputs(slow, 0.0, 30.0), c)
    assert pure == pytest.approx(s), "without prefills it is the closed forms' own"
    with_them = predicted(outputs(fast, 3.0, 9.0), outputs(slow, 2.0, 32.0), c)
    assert with_them == pytest.approx(32 / (3 + 30 / s))
    assert predicted(outputs(slow, 2.0, 32.0), outputs(slow, 2.0, 32.0), c) is None


def test_a_pass_of_another_drafter_costs_what_it_took():
    target, c = random_model(20), Costs(3, 1.0, 1.3, 0.1)
    fast = trace_of(run_rounds(target, drafting(target, error=0.3), [1], k=3, n=30))
    slow = trace_of(run_rounds(target, None, [1], k=0, n=30))
    took = Seconds(draft=3 * 0.4)  # of the three passes of every round
    rounds = tuple(replace(r, seconds=took) for r in fast.rounds)
    for drafter, draft in (("model", 0.1), ("heads", 0.4)):
        run = replace(fast, rounds=rounds, settings=replace(fast.settings, drafter=drafter))
        mine = [[Output(run.token_ids, 9.0, len(rounds), 0, run)]]
        expected = predicted_speedup(fast, replace(c, draft=draft))
        assert predicted(mine, outputs(slow, 0.0, 30.0), c) == pytest.approx(expected)


def test_a_prediction_is_for_a_token_where_texts_have_other_lengths():
    target, c = random_model(20), Costs(3, 1.0, 1.3, 0.1)
    fast = trace_of(run_rounds(target, drafting(target, error=1.0), [1], k=3, n=15))
    slow = trace_of(run_rounds(target, None, [1], k=0, n=30))
    got = predicted(outputs(fast, 0.0, 5.0), outputs(slow, 0.0, 30.0), c)
    assert got == pytest.approx(predicted_speedup(fast, c))


# ---- the command -------------------------------------------------------------------------------


@pytest.fixture
def command(pair, monkeypatch):
    asked = []

    def load(name, dtype=None, progress=None):
        asked.append((name, dtype))
        return pair

    monkeypatch.setattr(specdec, "load_pair", load)
    short = ["--n", "4", "--repeats", "1", "--no-peers", "--preset", "chat"]

    def run(*options):
        return main(["bench", *short, *options]), asked

    return run


def test_json_goes_to_a_file_beside_the_table_or_to_stdout(command, tmp_path, capsys):
    file = tmp_path / "bench.json"
    code, asked = command("--json", str(file), "--pair", "a+b", "--dtype", "fp32", "--k", "2")
    assert code == 0 and asked == [("a+b", "fp32")]
    assert "tokens/s" in capsys.readouterr().out
    data = json.loads(file.read_text(encoding="utf-8"))
    assert (data["k"], data["prompts"], data["max_new_tokens"]) == (2, ["chat"], 4)
    assert command("--json")[0] == 0
    assert json.loads(capsys.readouterr().out)["prompts"] == ["chat"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--k", "0"], "k is 0; a bench needs 1 or more."),
        (["--n", "0"], "the number of tokens is 0"),
        (["--repeats", "-1"], "repeats is -1"),
        (["--preset", "nothing"], "There is no preset 'nothing'"),
        (["--drafter", "dice"], "There is no drafter 'dice'"),
        (["--adaptive", "fast"], "There is no policy 'fast' for k"),
    ],
)
def test_wrong_options_are_a_sentence(command, options, words, capsys):
    assert command(*options)[0] == 1
    err = capsys.readouterr().err
    assert words in err and "Traceback" not in err
