"""Trees of guesses: their arrays, their record in a trace, what a screen and a file make of it."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec import tail, tree, tree_rounds
from specdec.constraint import Constraint, NothingAllowed
from specdec.drafters import Draft, FixedDrafter
from specdec.export import to_csv
from specdec.law import Sampling
from specdec.ledger import ledger
from specdec.measure import Costs, predicted_speedup
from specdec.text import Texts, Typist
from specdec.trace import Round, Trace
from specdec.ui import overlap_trace, stage
from specdec.uniforms import REPLACE, TEST, Uniforms
from tests.apps import stage_traces as traces
from tests.pairs_np import (
    GREEDY,
    SOFT,
    ids_of,
    plain_ids,
    random_model,
    run_rounds,
    trace_of,
)
from tests.tokenizers_np import ByteTokenizer

forests = st.integers(0, 9).flatmap(
    lambda n: st.tuples(*(st.integers(-1, i - 1) for i in range(n)))
)

# ---- arrays ----------------------------------------------------------------------------------


@given(forests)
def test_depths_positions_paths_and_mask_say_the_same(parents: tuple[int, ...]) -> None:
    sees, depths = tree.mask(parents), tree.depths(parents)
    for i in range(len(parents)):
        path = tree.path(parents, i)
        assert path[-1] == i and parents[path[0]] == -1
        assert all(parents[b] == a for a, b in pairwise(path))
        assert np.flatnonzero(sees[i]).tolist() == path  # a node comes after its ancestors
        assert depths[i] == len(path) == tree.positions(parents, 7)[i] - 6
        assert tree.below(parents, i) == [j for j in range(len(parents)) if sees[j, i] and j != i]
    assert len(set(tree.places(parents))) == len(parents)
    assert tree.path(parents, -1) == []


def test_positions_follow_depth_not_index() -> None:
    """A root with children A and B, and A → C, at context n: n, n + 1, n + 1, n + 2."""
    assert tree.positions([-1, 0, 0, 1], 11) == [11, 12, 12, 13]


@given(st.integers(1, 4), st.integers(0, 12))
def test_shapes_have_their_size_and_width(width: int, n: int) -> None:
    for shape in (tree.spine(width, n), tree.full(width, n)):
        tree.check(shape, n)
        after = tree.children(shape)
        assert all(len(nodes) <= width for nodes in after.values())
        assert tree.depths(shape) == sorted(tree.depths(shape))
    assert tree.spine(1, n) == tree.full(1, n) == tree.chain(n)


@pytest.mark.parametrize("parents", [[0], [-1, 1], [-2], [-1]], ids=str)
def test_parents_that_are_none_are_refused(parents: list[int]) -> None:
    with pytest.raises(ValueError, match="parents"):
        tree.check(parents, 2 if parents == [-1] else len(parents))


# ---- the record ------------------------------------------------------------------------------


class Twigs:
    """Always the same tree, whatever the text: chosen (q one-hot), or with these laws."""

    branches = True

    def __init__(self, tokens, parents, laws=None) -> None:
        self.tokens, self.parents, self.laws = tokens, parents, laws

    def propose(self, context, k, sampling, uniforms) -> Draft:
        n = min(k, len(self.tokens))
        return Draft(self.tokens[:n], self.laws, self.parents[:n])


# 2 and 1 after the text; 0 and 2 after the first of them, 3 after the second; 4 after that.
TOKENS, PARENTS = [2, 1, 0, 2, 3, 4], [-1, -1, 0, 0, 1, 4]
TARGET = random_model(5, seed=3, sharpness=1.0)


def sown(seed: int = 0, n: int = 30, sampling: Sampling = SOFT, **options) -> list[Round]:
    drafter = Twigs(TOKENS, PARENTS)
    options = {"tops": 5} | options
    return run_rounds(TARGET, drafter, [0, 1], k=6, n=n, sampling=sampling, rng=seed, **options)


@pytest.fixture(scope="module")
def grown() -> list[Trace]:
    """Runs in which every kind of round happens, ends inside a tree included."""
    return [
        *(trace_of(sown(seed), [0, 1]) for seed in range(6)),
        *(trace_of(sown(seed, n), [0, 1]) for seed in range(6) for n in (1, 2, 3)),
        *(trace_of(sown(seed, stop_ids=(3,)), [0, 1]) for seed in range(6)),
        trace_of(sown(sampling=GREEDY), [0, 1]),
    ]


def verdicts(r: Round) -> str:
    return "".join(token.verdict[0] for token in r.drafted)


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


# ---- where nothing may follow ----------------------------------------------------------------


def test_a_tree_ends_where_nothing_may_follow() -> None:
    """2 0 and 1 are texts of the grammar: after them nothing may stand, whoever proposed it."""
    texts = {(): {1, 2}, (2,): {0}, (2, 0): set(), (1,): set()}
    grammar = Constraint("2 0 or 1", lambda written: texts.get(tuple(written), set()))
    for seed in range(8):
        options = {"sampling": Sampling(1.0, constraint=grammar), "rng": seed}
        drafter = Twigs([2, 1, 0, 3, 4], [-1, -1, 0, 1, 2])
        rounds = run_rounds(TARGET, drafter, [0], k=5, n=9, stop_ids=(0, 1), **options)
        assert ids_of(rounds) in ([2, 0], [1])
        if rounds[0].drafted[1].verdict == "accepted":
            assert verdicts(rounds[0])[3] == "d"  # 3 stands behind the end of the text
        with pytest.raises(NothingAllowed):
            run_rounds(TARGET, drafter, [0], k=5, n=9, **options)


# ---- what the loop refuses -------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["match", "block"])
def test_a_tree_is_judged_by_pq_alone(rule: str) -> None:
    scorer = TARGET.scorer()
    with pytest.raises(ValueError, match=f"rule is {rule!r}, but a tree"):
        run_rounds(scorer, Twigs(TOKENS, PARENTS), [0, 1], k=6, n=5, rule=rule)
    assert scorer.fed == []


def test_a_target_that_knows_chains_only_is_named() -> None:
    with pytest.raises(ValueError, match="Bigram scores chains only"):
        run_rounds(traces.Bigram(np.zeros((5, 5))), Twigs(TOKENS, PARENTS), [0, 1], k=6, n=5)


def test_a_drafter_that_hides_its_trees_is_named() -> None:
    class Hiding(Twigs):
        branches = False

    with pytest.raises(ValueError, match="Hiding gave a tree, but does not say"):
        run_rounds(TARGET, Hiding(TOKENS, PARENTS), [0, 1], k=6, n=5)
    with pytest.raises(ValueError, match="parents"):
        run_rounds(TARGET, Twigs([1, 2], [-1, 1]), [0, 1], k=6, n=5)


def test_a_chain_of_a_drafter_that_may_branch_has_a_chains_numbers() -> None:
    class Chains(FixedDrafter):
        branches = True

    runs = [
        run_rounds(TARGET, drafter, [0, 1], k=3, n=20, sampling=SOFT, rng=4)
        for drafter in (Chains([2, 1, 0]), FixedDrafter([2, 1, 0]))
    ]
    one, other = ([(r.drafted, r.written) for r in rounds] for rounds in runs)
    assert one == other


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
