"""Contests of drafters: real runs of the engine, told once, and recorded by one command."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import pytest
from pairs_np import closed, random_pair

from specdec import contest, contest_run, run
from specdec.adaptive import MOST
from specdec.contest import LAWS, PLAIN, RECORDED, Contest, Foresight, middle
from specdec.contest_run import ENTRANTS, Asking, Foreseeing, base, foresee, possible
from specdec.drafters import Draft
from specdec.law import Sampling
from specdec.presets import Preset, presets

pytestmark = pytest.mark.long

PRESET = Preset("chat", "a test", False, "the sky")
TOYS = ("model", "lookup", "tree", "combined", "adaptive", "oracle", "random")


@cache
def held(temperature: float = 0.0, n: int = 14, turns: int = 3) -> Contest:
    pair, sampling = random_pair(), Sampling(temperature)
    *_, last = contest_run.contest(
        Asking(pair, PRESET, sampling, k=3, n=n, seed=5), possible(pair, sampling.greedy), turns
    )
    assert closed(pair)
    return last.contest


def test_all_ways_write_the_greedy_text() -> None:
    found = held()
    assert found.names == TOYS and found.greedy
    text = found.plain.trace.token_ids
    assert all(entry.trace.token_ids == text for entry in found.entries)


def test_every_way_drafts_as_its_name_says() -> None:
    found = held()
    traces = {name: found.entry(name).trace for name in TOYS}
    assert {t.settings.k for name, t in traces.items() if name in ("model", "random")} == {3}
    assert traces["tree"].settings.k == 6
    assert traces["adaptive"].settings.adaptive.startswith("ema c=")
    assert traces["adaptive"].settings.k == MOST
    assert traces["oracle"].alpha == 1.0
    assert found.plain.trace.settings.k == 0


def test_sampled_texts_have_no_oracle_and_no_foresight() -> None:
    found = held(1.0)
    assert "oracle" not in found.names and found.foresights == ()
    assert all(e.trace.settings.sampling.temperature == 1.0 for e in found.entries)
    assert {e.trace.settings.seed for e in found.entries} == {5}


def test_the_middle_turn_is_kept_with_the_times_of_all() -> None:
    for entry in held().entries:
        assert len(entry.seconds) == 3
        assert entry.trace.seconds.total == entry.seconds[middle(entry.seconds)]


def test_speedups_go_turn_by_turn() -> None:
    found = held()
    plain, way = found.plain, found.entry("model")
    timed = replace(
        found,
        entries=(replace(plain, seconds=(4.0, 6.0, 8.0)), replace(way, seconds=(2.0, 2.0, 8.0))),
    )
    assert timed.speedups("model") == (1.0, 2.0, 3.0)
    short = replace(plain, trace=replace(plain.trace, rounds=plain.trace.rounds[:7]))
    longer = replace(timed, entries=(replace(short, seconds=(4.0, 6.0, 8.0)), timed.entries[1]))
    assert longer.speedups("model") == (2.0, 4.0, 6.0)  # seconds a token: 14 against 7


def test_files_give_back_an_equal_contest_and_hold_the_prompt_once() -> None:
    for found in (held(), held(1.0)):
        text = found.to_json()
        assert Contest.from_json(text) == found
        assert [bool(e["trace"]["prompt"]) for e in json.loads(text)["entries"]].count(True) == 1


def broken(change) -> str:
    data = json.loads(held().to_json())
    change(data)
    with pytest.raises(ValueError) as error:
        Contest.from_json(json.dumps(data))
    return str(error.value)


def test_a_file_that_cannot_be_is_refused_in_a_sentence() -> None:
    def without_plain(d):
        d["entries"] = d["entries"][1:]

    assert "Plain decoding comes first" in broken(without_plain)
    assert "schema" in broken(lambda d: d.update(schema=9))
    assert "takes some time" in broken(lambda d: d["entries"][1].update(seconds=[0, 1, 1]))
    assert "as many turns" in broken(lambda d: d["entries"][1].update(seconds=[1.0]))
    assert "[0, 1]" in broken(lambda d: d["foresights"][0]["sure"].__setitem__(0, 2.0))
    assert "do not fit" in broken(lambda d: d["foresights"][0]["agree"].pop())
    assert "index" in broken(lambda d: d["entries"][2]["trace"]["rounds"][0].update(index=3))


def test_a_drafter_is_asked_everywhere_and_nothing_is_drafted() -> None:
    """Its first token at every place, and how sure it was, by the model's own logits."""
    pair = random_pair()
    found = foresee(Asking(pair, PRESET, n=12), "model", most=4)
    ids = run.encode(pair.tokenizer, PRESET.prompt, chat=False)
    text = run.plain(pair, PRESET.prompt, max_new_tokens=12, chat=False).token_ids
    assert len(found.agree) == len(text) == 12
    for i, (agree, sure) in enumerate(zip(found.agree, found.sure)):
        draft, seen = [], [*ids, *text[:i]]
        for _ in range(4):
            draft.append(int(pair.draft.after([*seen, *draft]).argmax()))
        right = [x == y for x, y in zip(draft, text[i:])]
        assert agree == (right.index(False) if False in right else len(right))
        assert sure == pytest.approx(Sampling(1.0).law(pair.draft.after(seen)).max())


def test_one_that_does_not_say_how_sure_it_is_claims_all() -> None:
    class Copy:
        def propose(self, context, k, sampling, uniforms):
            return Draft([7] if len(context) % 2 else [])

    asked = Foreseeing(Copy())
    assert all(not asked.propose([0] * n, 3, Sampling(), None).tokens for n in (1, 2, 3))
    assert asked.said == [[7], [], [7]] and asked.sure == [1.0, None, 1.0]
    assert not hasattr(asked, "length")  # it keeps no cache, so the loop rolls none back


def test_foresight_is_asked_of_those_that_take_part() -> None:
    names = {f.name: f.most for f in held().foresights}
    assert names == {"model": MOST, "lookup": 1}
    assert held().foresight("heads") is None


def test_heads_take_part_as_soon_as_their_file_is_there(tmp_path) -> None:
    file = tmp_path / "heads.safetensors"
    pair = SimpleNamespace(target=SimpleNamespace(layers=[None] * 6), heads_file=file)
    assert "heads" not in possible(pair) and base(pair) == "model"
    file.touch()
    assert possible(pair) == ENTRANTS and base(pair) == "heads"


def test_no_chain_writes_more_a_pass_than_the_oracle() -> None:
    """On the page: of all ways that draft a chain of the same k."""
    found = held()
    most = found.entry("oracle").trace.tokens_per_pass
    for name in ("model", "lookup", "combined", "random"):
        assert found.entry(name).trace.tokens_per_pass <= most


def test_a_way_that_a_pair_has_not_is_named() -> None:
    pair = random_pair()
    with pytest.raises(ValueError, match="no way 'heads'"):
        list(contest_run.contest(Asking(pair, PRESET), ["model", "heads"]))


def test_a_contest_that_nobody_reads_on_frees_its_caches() -> None:
    pair = random_pair()
    stages = contest_run.contest(Asking(pair, PRESET, n=4), ["model"], turns=1)
    fractions = [next(stages).fraction for _ in range(3)]
    stages.close()
    assert fractions == sorted(fractions) and closed(pair)


def test_one_command_records_what_the_page_opens_on(tmp_path) -> None:
    pair = random_pair()
    chosen = [replace(PRESET, name=name) for name in ("chat", "maths")]
    options = {"k": 2, "n": 6, "seed": 0, "when": "2026-01-01"}
    files = list(contest_run.record(pair, chosen, tmp_path, **options))
    assert [f.relative_to(tmp_path).as_posix() for f in files] == [
        f"ways/chat.{law}.json" for law in LAWS
    ]
    for file in files:
        found = Contest.from_json(file.read_bytes())
        assert {e.trace.source.when for e in found.entries} == {"2026-01-01"}
        assert found.source.kind == "recorded"


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", RECORDED)
def test_a_recording_is_real_and_of_its_preset(name: str, law: str) -> None:
    found = contest.load(name, law)
    preset = next(p for p in presets() if p.name == name)
    assert found.prompt == name and found.source.kind == "recorded" and found.source.when
    for entry in found.entries:
        assert preset.prompt in "".join(token.text for token in entry.trace.prompt)
        assert entry.trace.settings.sampling == Sampling(LAWS[law])
        assert entry.trace.stop_reason and len(entry.trace.token_ids) <= contest_run.LONGEST
        assert (entry.trace.settings.k > 0) == (entry.name != PLAIN)
    assert {"model", "lookup", "tree", "early-exit", "combined", "adaptive"} <= set(found.names)
    length = len(found.plain.trace.token_ids)
    assert all(len(f.agree) == length for f in found.foresights)
    assert bool(found.foresights) == found.greedy


def test_a_foresight_that_fits_is_taken() -> None:
    assert Foresight("model", 2, (0, 2), (0.5, None)).agree == (0, 2)
