"""transformers beside us on tiny random pairs: the same texts in the same passes, told by hooks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import specdec
from specdec.bench import bench
from specdec.bench_arms import ours
from specdec.bench_peers import judged, passes, transformers
from specdec.models.networks import draft_network, target_network
from specdec.models.pairs import Pair, load_pair, small_model
from specdec.presets import Preset
from tests.tiny import one_thread
from tests.zoo import V, near, saved

pytestmark = pytest.mark.long

EXACT = {"dtype": "fp32", "device": "cpu"}
PROMPT, N, K = [5, 41, 7, 41, 7, 88], 30, 3


@pytest.fixture(scope="module", autouse=True)
def threads() -> Iterator[None]:
    with one_thread():
        yield


@pytest.fixture(scope="module")
def llamas(tmp_path_factory) -> Pair:
    place = tmp_path_factory.mktemp("llamas")
    target = saved(place / "target", "llama")
    return load_pair(f"{target}+{near(place / 'small', target, 0.1)}", **EXACT)


@pytest.fixture(scope="module")
def gpts(tmp_path_factory) -> Pair:
    place = tmp_path_factory.mktemp("gpts")
    target = saved(place / "target", "gpt2")
    return load_pair(f"{target}+{near(place / 'small', target, 0.25)}", **EXACT)


def by_name(arms):
    return {arm.name: arm.run(PROMPT, N) for arm in arms}


@pytest.mark.parametrize("kind", ["llamas", "gpts"])
def test_the_peers_write_our_text_in_as_many_passes(kind, request):
    pair = request.getfixturevalue(kind)
    mine, peer = by_name(ours(pair, K)), by_name(transformers(pair, K))
    texts = {output.tokens for output in (mine | peer).values()}
    assert len(texts) == 1, "all arms write plain decoding's text"
    assert peer["transformers"].target_passes == mine["plain"].target_passes
    assisted, model = peer["transformers-assisted"], mine["model"]
    assert 0 < model.trace.draft_yield < 1, "the test sees accepted and rejected drafts"
    assert assisted.target_passes == model.target_passes
    drafts = [what_the_library_drafts(r, pair.stop_ids) for r in model.trace.rounds]
    assert assisted.draft_passes == sum(map(len, drafts))
    assert assisted.judged == judged(drafts, model.tokens)


def what_the_library_drafts(r, stop_ids):
    """The draft of a round of ours, up to an end token, and no longer than can be written."""
    left = N + len(PROMPT) - r.start
    draft = [token.id for token in r.drafted][: left - 1]
    ends = [i + 1 for i, token in enumerate(draft) if token in stop_ids]
    return draft[: min(ends, default=K)]


def test_k_reaches_the_peers_drafter(llamas):
    for k in (1, 5):
        _, assisted, lookup = transformers(llamas, k)
        assert max(j.drafted for j in assisted.run(PROMPT, N).judged) == k
        assert max(j.drafted for j in lookup.run(PROMPT, N).judged) <= k


def test_hooks_count_what_our_traces_say(gpts):
    target, small = gpts.target.network, gpts.draft.network
    for arm in ours(gpts, K):
        with passes(target) as read, passes(small) as drafted:
            output = arm.run(PROMPT, N)
        prefills = (1, int(arm.name == "model"))
        counts = (output.target_passes + prefills[0], output.draft_passes + prefills[1])
        assert (len(read), len(drafted)) == counts, arm.name
        if output.trace:
            fed = [ids.shape[1] for ids in read[1:]]
            assert fed == [1 + len(r.drafted) for r in output.trace.rounds], arm.name


def test_no_hook_stays(llamas):
    arm = transformers(llamas, K)[0]
    arm.run(PROMPT, 3)
    assert not arm.target._forward_pre_hooks


def test_a_checkpoints_own_settings_do_not_reach_the_peers(tmp_path):
    from transformers import GenerationConfig

    folder = saved(tmp_path / "target", "llama")
    GenerationConfig(repetition_penalty=5.0, do_sample=True).save_pretrained(folder)
    pair = load_pair(f"{folder}+{folder}", **EXACT)
    plain = specdec.plain(pair, PROMPT, max_new_tokens=N).token_ids
    assert [arm.run(PROMPT, N).tokens for arm in transformers(pair, K)] == [plain] * 3


def test_a_report_of_both(llamas):
    report = bench(llamas, [Preset("w", "W", False, "w5 w41 w7")], k=K, max_new_tokens=8, repeats=1)
    names = ["bare", "plain", "model", "lookup"]
    names += ["transformers", "transformers-assisted", "transformers-lookup"]
    assert [arm.name for arm in report.arms] == names and report.left_out == ()
    assert all(arm.equal for arm in report.arms)


# ---- the bundled drafter in transformers' own class --------------------------------------------


@pytest.fixture
def bundled(llamas: Pair, tmp_path: Path) -> Pair:
    """A pair whose drafter has one layer and a head of a few ids, in a file as the bundled one."""
    state = load_file(llamas.target.folder / "model.safetensors")
    layer = {name: w for name, w in state.items() if ".layers.0." in name}
    ids = torch.tensor([41, 7, 3, 88, 12, 5])
    head = state.get("lm_head.weight", state["model.embed_tokens.weight"])[ids].clone()
    layer |= {"model.norm.weight": state["model.norm.weight"], "lm_head.weight": head}
    file = tmp_path / "small.safetensors"
    save_file(layer | {"draft_ids": ids}, file)
    small = small_model(llamas.target, file)
    return Pair("tiny", "", llamas.target, small, llamas.tokenizer, llamas.stop_ids)


def test_a_reduced_head_gives_our_logits_and_nothing_else(bundled):
    network = draft_network(bundled, target_network(bundled))
    with torch.inference_mode():
        logits = network(input_ids=torch.tensor([PROMPT])).logits[0].numpy()  # [n, V]
    mine, known = bundled.draft.scorer().score(PROMPT), bundled.draft.token_ids
    np.testing.assert_allclose(logits[:, known], mine, atol=1e-5 * np.abs(mine).max())
    assert logits.shape[1] == V and np.isneginf(np.delete(logits, known, 1)).all()


def test_a_bundled_drafter_assists_as_it_drafts(bundled):
    model = next(arm for arm in ours(bundled, K) if arm.name == "model").run(PROMPT, N)
    assisted = transformers(bundled, K)[1].run(PROMPT, N)
    assert (assisted.tokens, assisted.target_passes) == (model.tokens, model.target_passes)


def test_a_file_that_does_not_fit_is_a_sentence(bundled, tmp_path):
    state = load_file(bundled.draft.file)
    del state["model.norm.weight"]
    bundled.draft.file = tmp_path / "half.safetensors"
    save_file(state, bundled.draft.file)
    with pytest.raises(ValueError, match=r"does not fit the drafter: 'model.norm.weight'"):
        draft_network(bundled, target_network(bundled))
