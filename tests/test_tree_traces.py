"""Trees in a trace: their record, their files, and what screens, rates and files make of them."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

from specdec import tail, tree, tree_rounds
from specdec.export import to_csv
from specdec.ledger import ledger
from specdec.measure import Costs, predicted_speedup
from specdec.text import Texts, Typist
from specdec.trace import Trace
from specdec.ui import overlap_trace, stage
from specdec.uniforms import REPLACE, TEST, Uniforms
from tests import twigs
from tests.apps import stage_traces as traces
from tests.pairs_np import SOFT, ids_of, plain_ids, random_model, run_rounds
from tests.tokenizers_np import ByteTokenizer
from tests.twigs import PARENTS, TARGET, TOKENS, Twigs, sown, verdicts

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def grown() -> list[Trace]:
    """Runs in which every kind of round happens."""
    return twigs.grown()


def test_all_kinds_of_rounds_happen(grown: list[Trace]) -> None:
    seen = {verdicts(r) for trace in grown for r in trace.rounds}
    whole = {"rrdddd", "adrrdd", "adradd", "adaddd", "raddrd", "raddar", "raddaa"}
    assert seen == whole | {"addddd", "radddd"}  # the last two where the text ended
    assert {t.rounds[-1].stop_reason for t in grown} == {"length", "eos"}


def test_every_probability_is_what_its_sibling_left(grown: list[Trace]) -> None:
    """p, threshold, verdict, kinds and uniforms, from their definitions."""
    for seed, trace in enumerate(grown[:6]):
        ids, uniforms = [0, 1], Uniforms(seed)
        for r in trace.rounds:
            own = uniforms.of_round(r.index)
            children, places = tree.children(PARENTS), tree.places(PARENTS)
            for parent, nodes in children.items():
                history = ids + [TOKENS[i] for i in tree.path(PARENTS, parent)]
                p = SOFT.law(TARGET.after(history))
                for i in nodes:
                    token, (depth, child) = r.drafted[i], places[i]
                    assert (token.id, token.parent, token.q) == (TOKENS[i], PARENTS[i], 1.0)
                    assert token.p == pytest.approx(p[token.id]) == token.threshold
                    assert {j: x for j, _, x in token.p_top.entries} == pytest.approx(
                        {j: x for j, x in enumerate(p) if x}
                    )
                    p = np.where(np.arange(5) == token.id, 0, p)
                    p = p / p.sum()
                    left = {j: x for j, _, x in token.residual_top.entries}
                    assert left == pytest.approx({j: x for j, x in enumerate(p) if x})
                    if token.verdict == "discarded":
                        assert token.u is None
                    else:
                        assert token.u == own(r.start + depth - 1, TEST, child)
                        assert (token.u < token.threshold) == (token.verdict == "accepted")
            path = tree_rounds.path(r)
            for at, token in enumerate(r.written):
                law = SOFT.law(TARGET.after(ids))
                assert token.p == pytest.approx(law[token.id])
                if at < len(path):
                    assert (token.kind, token.u) == ("accepted", r.drafted[path[at]].u)
                else:
                    ends = path[-1] if path else -1
                    assert token.kind == ("corrected" if ends in PARENTS else "bonus")
                    assert token.u == own(r.start + at, REPLACE)
                ids.append(token.id)


def test_the_cache_holds_the_text_and_nothing_else() -> None:
    scorer = TARGET.scorer()
    for r in sown():
        assert r.lengths.target[1] == r.start + len(r.written) - 1
    ids = [0, 1, *ids_of(run_rounds(scorer, Twigs(TOKENS, PARENTS), [0, 1], k=6, n=25))]
    assert scorer.cached == ids[:-1]
    assert ids[2:] == plain_ids(TARGET, [0, 1], 25)


def test_rates_by_hand(grown: list[Trace]) -> None:
    for trace in grown:
        told = [(verdicts(r), len(r.written)) for r in trace.rounds]
        accepted = sum(v.count("a") for v, _ in told)
        judged = accepted + sum(v.count("r") for v, _ in told)
        assert trace.alpha == (accepted / judged if judged else None)
        whole = [r for r in trace.rounds if len(r.written) > r.accepted]
        assert all(r.counted == 6 for r in whole)
        reach = {id(r): 3 for r in whole}
        for r in trace.rounds:
            if id(r) in reach:
                continue
            last = tree_rounds.path(r)[-1]  # the text ended with it: what follows it is not counted
            gone = tree.below(PARENTS, last)
            assert r.counted == 6 - len(gone)
            reach[id(r)] = max(d for i, d in enumerate(tree.depths(PARENTS)) if i not in gone)
        for i, share in enumerate(trace.per_position):
            reached = [r for r in trace.rounds if reach[id(r)] > i]
            assert share == sum(r.accepted > i for r in reached) / len(reached)
        assert trace.tokens_per_pass == len(trace.token_ids) / len(trace.rounds)


def test_files_keep_trees(grown: list[Trace]) -> None:
    for trace in grown:
        assert Trace.from_json(trace.to_json()) == trace


def refused(trace: Trace, index: int, **change) -> str:
    data = json.loads(trace.to_json())
    data["rounds"][0]["drafted"][index] |= change
    with pytest.raises(ValueError) as error:
        Trace.from_json(json.dumps(data))
    return str(error.value)


def first(grown: list[Trace], wanted: str) -> Trace:
    """A trace that ends with the first round of these verdicts; it begins with it too."""
    trace, r = next((t, r) for t in grown for r in t.rounds if verdicts(r) == wanted)
    moved = replace(r, index=0, start=2, stop_reason="cancelled")
    return replace(trace, rounds=(moved,), stop_reason="cancelled")


def test_trees_that_cannot_be_are_refused(grown: list[Trace]) -> None:
    none, elder = first(grown, "rrdddd"), first(grown, "adrrdd")
    assert "out of order" in refused(none, 1, verdict="discarded")  # its turn had come
    assert "out of order" in refused(none, 2, verdict="rejected")  # behind a rejected one
    assert "no path" in refused(none, 3, verdict="accepted")
    assert "out of order" in refused(elder, 1, verdict="rejected")  # its elder was kept
    assert "out of order" in refused(elder, 0, verdict="rejected")
    assert "its parent is 3" in refused(elder, 2, parent=3)
    data = json.loads(none.to_json())
    data["rounds"][0]["rule"] = "match"
    with pytest.raises(ValueError, match="tree, which 'match' cannot judge"):
        Trace.from_json(json.dumps(data))


def test_two_tokens_of_a_chain_are_never_rejected_both(grown: list[Trace]) -> None:
    data = json.loads(first(grown, "rrdddd").to_json())
    drafted = data["rounds"][0]["drafted"] = data["rounds"][0]["drafted"][:2]
    drafted[1]["parent"] = 0
    with pytest.raises(ValueError, match="two drafted tokens are rejected"):
        Trace.from_json(json.dumps(data))
    drafted[1]["parent"] = -1
    assert Trace.from_json(json.dumps(data)).rounds[0].rejected == 2


# ---- who reads a trace -----------------------------------------------------------------------


def test_the_stage_shows_the_accepted_path_as_a_chain(grown: list[Trace]) -> None:
    for trace in grown:
        wired = stage.wire(trace)
        assert json.dumps(wired)
        for r, sent in zip(trace.rounds, wired["rounds"]):
            shown = sent["drafted"]
            kept = [d for d in r.drafted if d.verdict == "accepted"]
            assert [d["id"] for d in shown[: len(kept)]] == [d.id for d in kept]
            rest = [d["verdict"] for d in shown[len(kept) :]]
            assert rest == (["rejected"] if r.written[-1].kind == "corrected" else [])
            # before, drafting (not a pass for each), verify, a test each, write; there is no tail
            assert stage.steps(r) == 3 + 1 + len(shown)


def test_a_chain_for_the_screen_is_the_chain_itself() -> None:
    trace = traces.sampled()
    assert all(tree_rounds.as_chain(r) is r for r in trace.rounds)


def test_what_replaced_the_last_sibling_came_from_its_residual(grown: list[Trace]) -> None:
    for trace in grown:
        for r in map(tree_rounds.as_chain, trace.rounds):
            if r.written[-1].kind == "corrected":
                ids = [i for i, _, share in r.drafted[-1].residual_top.entries if share]
                assert r.written[-1].id in ids


def test_the_table_has_positions_of_the_text(grown: list[Trace]) -> None:
    trace = grown[0]
    rows = [row for row in csv.DictReader(to_csv(trace).splitlines()) if row["lane"] == "draft"]
    wanted = [r.start + d - 1 for r in trace.rounds for d in tree.depths(PARENTS)]
    assert [int(row["position"]) for row in rows] == wanted


def test_the_ledger_counts_every_node_in_the_target(grown: list[Trace]) -> None:
    for r, entry in zip(grown[0].rounds, ledger(grown[0])):
        assert (entry.target.fed, entry.target.kept) == (7, len(r.written))


def test_a_rejected_elder_was_replaced_by_its_sibling(grown: list[Trace]) -> None:
    r = next(r for t in grown for r in t.rounds if verdicts(r).startswith("ra"))
    named = Texts(ByteTokenizer()).piece
    dressed = traces.dress(r, [named(t.id) for t in r.drafted], ["sibling", *"bcd"], named)
    assert "` sibling ` was written instead" in overlap_trace.fate(dressed, 0)


def test_tails_and_closed_forms_are_of_chains(grown: list[Trace]) -> None:
    trace = grown[0]
    assert tail.mend(TARGET.scorer(), trace) == trace
    assert predicted_speedup(trace, Costs(6, 1.0, 1.2, 0.1)) is None


def test_each_text_is_read_behind_its_own_path() -> None:
    """An é is two tokens on one path; a sibling of the first has no part in it."""
    tokenizer = ByteTokenizer()
    high, low = tokenizer.bytes_of("é")
    (x,) = tokenizer.bytes_of("x")
    model = random_model(len(tokenizer))
    [r] = run_rounds(model, Twigs([x, high, low, x], [-1, -1, 1, 0]), [x], k=4, n=1)
    alone = Texts(tokenizer).of([x, high], 1)[0]
    texts = [token.text for token in Typist(Texts(tokenizer), [x]).type(r).drafted]
    assert texts == ["x", *alone, Texts(tokenizer).of([x, high, low], 1)[0][1], "x"]
