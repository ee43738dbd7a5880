"""What is trained is what the engine runs: the same laws from the same file, the right loss."""

from __future__ import annotations

import doctest
import math

import numpy as np
import pytest
import torch
from transformers import LlamaConfig, Qwen3Config

from specdec.distill import schedule, weights
from specdec.distill.batched import hidden_rows
from specdec.distill.batches import Place, batch_of, can_start, starts, take
from specdec.distill.features import Features
from specdec.distill.loss import Loss, cross_entropy
from specdec.distill.nets import HeadsNet, SmallNet, first_heads, first_small
from specdec.distill.schedule import LEAST, Schedule
from specdec.distill.vocabulary import DraftVocabulary
from specdec.models.heads import heads_model
from specdec.models.llama import Llama
from specdec.models.pairs import small_model
from tests.distilling import ENDS, text, tiny_folder, tiny_model
from tests.heads import naive_logits, rms, tiny_config, tiny_state, tiny_target
from tests.tiny import SIZES, build, one_thread

pytestmark = pytest.mark.long

IDS = [7, 1, 3, 4, 9, 0]
TEXTS = [([1, 0, 2], [5, 9, 1, 4, 10, 3, 7]), ([8], [2, 2, 6, 1]), ([4, 4], [9])]


@pytest.fixture(autouse=True)
def _one_thread():
    with one_thread():
        yield


def in_bf16(state: dict) -> dict:
    """The numbers that a file of it holds."""
    whole = ("draft_ids", "taps")
    return {n: w if n in whole else w.bfloat16().float() for n, w in state.items()}


class Seen:
    """A judge that keeps the logits of every depth, and lets all go on but what it is told."""

    def __init__(self, net, stop=()) -> None:
        self.net, self.stop, self.logits = net, stop, {}

    def __call__(self, depth, g, texts, positions):
        for row, i, at in zip(self.net.lm_head(g), texts.tolist(), positions.tolist(), strict=True):
            self.logits[depth, i, at] = row.detach().numpy()
        return torch.tensor([(depth, i) not in self.stop for i in texts.tolist()])


def heads_of(target: Llama, taps: tuple[int, ...], tmp_path):
    """Heads as a net, and as the engine loads their file."""
    state = in_bf16(tiny_state(IDS, taps))
    parts = {n: w for n, w in state.items() if n not in ("draft_ids", "taps")}
    file = tmp_path / "heads.safetensors"
    weights.save(file, parts, torch.tensor(IDS), taps, {"step": 3})
    read = weights.load(file)
    assert (read.kind, read.taps, read.ids.tolist()) == ("heads", taps, IDS)
    assert read.facts["step"] == "3"
    return state, read.net(tiny_config(11), target.embedding), heads_model(target, file)


def batch_for(target: Llama, taps, some=TEXTS):
    texts = [text(*x, 11, file="a", row=i) for i, x in enumerate(some)]
    vocabulary = DraftVocabulary(np.array(sorted(IDS)), 11)
    # Not rounded to the store's float16, so that they can be compared closely.
    exact = lambda some: [  # noqa: E731
        rms(rows.unflatten(-1, (1 + len(taps), -1))).numpy()
        for rows in hidden_rows(target, [x.ids for x in some], taps)
    ]
    return texts, batch_of(texts, vocabulary, exact, torch.device("cpu"))


@pytest.mark.parametrize("taps", [(), (1, 2)], ids=str)
def test_every_depth_has_the_engines_law(taps, tmp_path) -> None:
    """From every start of every text, as if the text had been drafted and accepted so far."""
    target = tiny_target(11)
    state, net, model = heads_of(target, taps, tmp_path)
    target.taps = ()
    texts, batch = batch_for(target, taps)
    seen = Seen(net)
    net.predict(batch, starts(texts, 9, np.random.default_rng(0)), 4, seen)
    target.taps = taps  # the oracle reads them
    checked = 0
    for (depth, i, at), logits in seen.logits.items():
        ids = texts[i].ids.tolist()
        begin = at - depth - 1  # the entry that the first guess was made at
        wanted = naive_logits(target, state, ids[: begin + 2], ids[begin + 2 : at])[depth - 1]
        assert np.allclose(logits[np.argsort(IDS)], wanted, atol=2e-4)
        checked += depth == 4
    lengths = [len(x) for x in texts]
    assert {(i, at) for d, i, at in seen.logits if d == 1} == {
        (i, at) for i, x in enumerate(texts) for at in range(max(2, len(x.prompt)), lengths[i])
    }
    assert checked == sum(max(0, n - max(2, len(x.prompt)) - 3) for n, x in zip(lengths, texts))
    assert model.token_ids.tolist() == sorted(IDS)


def test_only_accepted_drafts_go_on(tmp_path) -> None:
    target = tiny_target(11)
    _, net, _ = heads_of(target, (), tmp_path)
    texts, batch = batch_for(target, ())
    free, cut = Seen(net), Seen(net, stop={(2, 0)})
    for seen in (free, cut):
        net.predict(batch, starts(texts, 9, np.random.default_rng(0)), 4, seen)
    left = {key for key in free.logits if not (key[1] == 0 and key[0] > 2)}
    assert set(cut.logits) == left < set(free.logits)
    assert all(np.allclose(cut.logits[key], free.logits[key], atol=1e-5) for key in left)


def test_gradients_reach_every_weight_of_the_heads(tmp_path) -> None:
    target = tiny_target(11)
    _, net, _ = heads_of(target, (1,), tmp_path)
    texts, batch = batch_for(target, (1,))
    loss = Loss(batch, net.lm_head.weight, **HOW)
    net.predict(batch, starts(texts, 9, np.random.default_rng(0)), 2, loss)
    loss.total.backward()
    assert all(w.grad.abs().sum() > 0 for w in net.parameters())


KINDS = {
    "llama": lambda: LlamaConfig(**SIZES | ENDS, attention_bias=True),
    "qwen3": lambda: Qwen3Config(**SIZES | ENDS, head_dim=16),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_small_model_has_the_engines_law(kind, tmp_path) -> None:
    config = KINDS[kind]()
    state = build(config).state_dict()
    target = Llama(config, state, dtype="fp32", device="cpu")
    ids = torch.tensor([3, 9, 30, 31, 90])
    first = in_bf16(first_small(config, state, ids, (0, -1)))
    weights.save(tmp_path / "small.safetensors", first, ids)
    read = weights.load(tmp_path / "small.safetensors")
    net = read.net(config, state["model.embed_tokens.weight"])
    assert read.kind == "small" and isinstance(net, SmallNet) and len(net.model.layers) == 2
    last = f"model.layers.{SIZES['num_hidden_layers'] - 1}.mlp.up_proj.weight"
    assert torch.equal(first["model.layers.1.mlp.up_proj.weight"], in_bf16(state)[last])
    texts = [text(*x) for x in TEXTS]
    vocabulary = DraftVocabulary(ids.numpy(), 97)
    seen = Seen(net)
    net.predict(batch_of(texts, vocabulary, None, torch.device("cpu")), None, 4, seen)
    small = small_model(target, tmp_path / "small.safetensors")
    for i, x in enumerate(texts):
        logits = small.scorer().score(x.ids)
        for at in range(len(x.prompt), len(x)):
            assert np.allclose(seen.logits[1, i, at], logits[at - 1], atol=1e-3)
    assert len(seen.logits) == sum(len(x.written) for x in texts)


def test_heads_begin_where_their_guess_is_a_feature(tmp_path) -> None:
    """Before any training the head reads a feature as the target's own head does."""
    folder = tiny_folder(tmp_path)
    model = tiny_model(folder)
    from specdec.models import checkpoint

    config, state = checkpoint.read(folder)
    ids = torch.tensor([4, 50, 96])
    first = first_heads(config, state, ids, (1,), seed=0)
    net = HeadsNet(config, first, state["model.embed_tokens.weight"], (1,))
    x = text([5, 6], [7, 8])
    [feature] = Features(model, (), None, [x]).of([x])
    logits = torch.from_numpy(feature[:, 0].astype(np.float32)) @ first["lm_head.weight"].T
    assert np.allclose(logits.numpy(), model.scorer().score(x.ids)[:, ids], atol=0.05)
    assert net.mix.weight.abs().sum() == 0


def test_features_are_computed_once_and_kept(tmp_path) -> None:
    folder = tiny_folder(tmp_path / "target")
    model = tiny_model(folder)
    texts = [text(*x, file=f"f{i % 2}", row=i // 2) for i, x in enumerate(TEXTS)]
    fresh = Features(model, (1, 2), None, texts).of(texts)
    store = tmp_path / "store"
    first = Features(model, (1, 2), store, texts, "m")
    assert all(map(np.array_equal, first.of(texts[:2]), fresh[:2]))
    again = Features(model, (1, 2), store, texts, "m")
    assert all(map(np.array_equal, again.of(texts), fresh))
    assert fresh[0].shape == (10, 3, SIZES["hidden_size"])
    assert np.allclose(np.square(fresh[0].astype(float)).mean(-1), 1, atol=0.01)
    model.close()  # nothing is left to compute
    assert all(map(np.array_equal, Features(model, (1, 2), store, texts, "m").of(texts), fresh))
    for taps, mark, some in (((1,), "m", texts), ((1, 2), "n", texts), ((1, 2), "m", texts[:1])):
        with pytest.raises(ValueError, match="are of another target, other layers or other texts"):
            Features(model, taps, store, some, mark)


def test_features_not_marked_are_computed_again(tmp_path) -> None:
    """A process killed between the rows and their mark leaves rows that nobody trusts."""
    model = tiny_model(tiny_folder(tmp_path / "target"))
    x = text(*TEXTS[0], file="f", row=0)
    store = Features(model, (), tmp_path / "store", [x])
    rows, done = store._store("f")
    rows[:] = 1.0
    assert not done.any()
    assert np.array_equal(store.of([x])[0], Features(model, (), None, [x]).of([x])[0])


HOW = {"hard": 0.5, "weights": (1.0, 0.5), "sampled": 0, "rng": np.random.default_rng(0)}


def test_the_loss_is_the_cross_entropy_with_the_law() -> None:
    p, q = torch.tensor([[0.5, 0.2, 0.1]]), torch.tensor([[0.4, 0.1, 0.2]])
    known = torch.tensor([[True, True, True]])
    soft = -(0.5 * math.log(0.4) + 0.2 * math.log(0.1) + 0.1 * math.log(0.2) + 0.2 * math.log(0.3))
    assert math.isclose(cross_entropy(p, q.log(), known, 0.0).item(), soft, rel_tol=1e-5)
    hard = cross_entropy(p, q.log(), known, 1.0).item()
    assert math.isclose(hard, -math.log(0.4), rel_tol=1e-5)
    known[0, 1] = False  # outside the draft vocabulary: no part of it, and q = 0
    cut = -(0.5 * math.log(0.4) + 0.1 * math.log(0.2) + 0.2 * math.log(0.4))
    assert math.isclose(cross_entropy(p, q.log(), known, 0.0).item(), cut, rel_tol=1e-5)


def small_batch(written: list[int]):
    """One text over the draft vocabulary 10 … 29, whose laws know 8 ids."""
    x = text([1, 2], written)
    return batch_of([x], DraftVocabulary(np.arange(10, 30), 97), None, torch.device("cpu"))


def test_columns_that_stand_for_others_add_up() -> None:
    """Where all the rest have equal logits, a few of them give the whole loss."""
    batch = small_batch([12, 14])
    head = torch.zeros(20, 4)
    head[2], head[4] = torch.tensor([1.0, 0, 2, 0]), torch.tensor([0.0, 1, 0, 3])
    g, at = torch.randn(2, 4, generator=torch.Generator().manual_seed(0)), torch.tensor([2, 3])
    losses = []
    for sampled in (0, 3):
        loss = Loss(batch, head, **HOW | {"sampled": sampled})
        loss(1, g, torch.zeros(2, dtype=torch.long), at)
        losses.append(loss.total.item())
    assert len(loss.chosen) < 20 and math.isclose(*losses, rel_tol=1e-5)


def test_depths_are_weighed_and_counted() -> None:
    batch, head = small_batch([12, 14]), torch.randn(20, 4)
    g, where = torch.randn(2, 4), (torch.zeros(2, dtype=torch.long), torch.tensor([2, 3]))
    one, two = Loss(batch, head, **HOW), Loss(batch, head, **HOW)
    one(1, g, *where)
    two(2, g, *where)
    assert math.isclose(one.total.item(), 2 * two.total.item(), rel_tol=1e-5)
    assert (one.counts.tolist(), two.counts.tolist()) == ([2, 0], [0, 2])
    assert math.isclose(one.sums[0], two.sums[1], rel_tol=1e-6)


def test_a_start_goes_on_if_its_token_would_be_accepted() -> None:
    """The favourite always; another with the chance q / p; one outside the vocabulary never."""
    batch = small_batch([12, 14, 50])
    head = torch.zeros(20, 4)
    head[2, 0], head[5, 1] = 9.0, 9.0  # columns of 12 and of 15
    g = torch.eye(4)[[0, 1, 0]]
    where = torch.zeros(3, dtype=torch.long), torch.tensor([2, 3, 4])
    on = sum(Loss(batch, head, **HOW)(1, g, *where).int() for _ in range(200))
    assert on[0] == 200 and on[2] == 0
    q = 1 / (math.exp(9) + 19)  # of 14 where 15 is the favourite; its p is 1
    assert on[1] <= 200 * q + 3


def test_starts_predict_written_tokens_only() -> None:
    texts = [text(*x) for x in TEXTS]
    found = starts(texts, 9, np.random.default_rng(0)).tolist()
    assert [[s for s in row if s >= 0] for row in found] == [[1, 2, 3, 4, 5, 6, 7], [0, 1, 2], [0]]
    few = starts(texts, 2, np.random.default_rng(0))
    assert (few[:2] >= 0).all() and few[2].tolist() == [0, -1]
    assert not can_start(text([1], [2])) and not can_start(text([1, 2, 3], []))


def test_every_turn_takes_every_text_once() -> None:
    place, seen = Place(), []
    for _ in range(6):
        chosen, place = take(7, place, 3, seed=0)
        seen.append(chosen.tolist())
    turns = [[i for part in half for i in part] for half in (seen[:3], seen[3:])]
    assert all(sorted(turn) == list(range(7)) for turn in turns) and turns[0] != turns[1]
    assert place == Place(2, 0) and take(7, Place(1, 3), 3, seed=0)[0].tolist() == seen[4]


def test_the_rate_warms_up_stays_and_decays_to_the_sooner_end() -> None:
    s = Schedule(warm=4, steps=100, decay_steps=10, end=1000.0, decay_seconds=100.0)
    assert [s.warmth(step) for step in (0, 1, 3, 50)] == [0.25, 0.5, 1.0, 1.0]
    assert s.decay(50, 0.0) == 1.0
    assert math.isclose(s.decay(95, 0.0), LEAST + (1 - LEAST) * 0.5)
    assert math.isclose(s.decay(50, 950.0), LEAST + (1 - LEAST) * 0.5)
    assert s.decay(100, 2000.0) == LEAST
    assert [s.over(99, 999.0), s.over(100, 0.0), s.over(0, 1000.0)] == [False, True, True]
    assert doctest.testmod(schedule).failed == 0
    assert Schedule().decay(10**6, 1e12) == 1.0 and not Schedule().over(10**6, 1e12)
