"""transformers' own ways to decode, as arms of the bench; of ours they share the weights alone."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from specdec.bench_arms import Arm, Judged, Output

NGRAM = 3  # the longest that a lookup matches: as in our own


@dataclass(frozen=True)
class Generate:
    """`generate` of transformers, greedy; its passes are counted by hooks on both networks."""

    name: str
    target: Any
    options: Mapping[str, Any] = field(default_factory=dict)

    def run(self, prompt: Sequence[int], n: int) -> Output:
        """Decode once."""
        import torch

        small = self.options.get("assistant_model")
        with quiet(), passes(self.target) as read, passes(small) as drafted:
            began = time.perf_counter()
            ids = torch.tensor([list(prompt)], device=self.target.device)
            with torch.inference_mode():
                out = self.target.generate(
                    ids, attention_mask=torch.ones_like(ids), max_new_tokens=n, **self.options
                )
            tokens = tuple(out[0, len(prompt) :].tolist())
            seconds = time.perf_counter() - began
        drafts = drafts_of([ids[0].tolist() for ids in read], len(prompt))
        return Output(tokens, seconds, len(read), len(drafted), judged=judged(drafts, tokens))


def transformers(pair: Any, k: int) -> list[Arm]:
    """Plain, assisted by the pair's own drafter, and prompt lookup, with k tokens a round."""
    from specdec.models.networks import draft_network, target_network

    target = target_network(pair)
    target.generation_config = settings(pair.stop_ids)
    small = draft_network(pair, target)
    # These three are read from the drafter; those of the target, or of a call, are not.
    small.generation_config = settings(
        pair.stop_ids,
        num_assistant_tokens=k,
        num_assistant_tokens_schedule="constant",
        assistant_confidence_threshold=0.0,
    )
    lookup = {"prompt_lookup_num_tokens": k, "max_matching_ngram_size": NGRAM}
    return [
        Generate("transformers", target),
        Generate("transformers-assisted", target, {"assistant_model": small}),
        Generate("transformers-lookup", target, lookup),
    ]


def settings(stop_ids: Sequence[int], **more: Any) -> Any:
    """Greedy decoding to these ids, and nothing that a checkpoint's own settings would add."""
    from transformers import GenerationConfig

    ends = {"eos_token_id": list(stop_ids), "pad_token_id": stop_ids[0]} if stop_ids else {}
    return GenerationConfig(do_sample=False, **ends, **more)


@contextmanager
def quiet() -> Iterator[None]:
    """No warnings of the library: it gives them about its own calls too."""
    from transformers.utils import logging

    before = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(before)


@contextmanager
def passes(network: Any) -> Iterator[list[Any]]:
    """The ids [1, n] that each forward pass of a network reads while this is open."""
    seen: list[Any] = []
    if network is None:
        yield seen
        return
    hook = network.register_forward_pre_hook(
        lambda _, args, named: seen.append(named["input_ids"]), with_kwargs=True
    )
    try:
        yield seen
    finally:
        hook.remove()


def drafts_of(passes: Sequence[Sequence[int]], prompt: int) -> list[list[int]]:
    """The drafted tokens of each target pass: all that it reads after the text so far.

    Its first pass reads the `prompt` too, every other one the token written last.
    """
    return [list(ids[1 if i else prompt :]) for i, ids in enumerate(passes)]


def judged(drafts: Sequence[Sequence[int]], tokens: Sequence[int]) -> tuple[Judged, ...]:
    """What became of each draft: it was accepted as far as it is the text that was written.

    Example:
        >>> judged([[5, 6], [8, 9]], [5, 7, 8])
        (Judged(accepted=1, rejected=1, drafted=2), Judged(accepted=1, rejected=0, drafted=1))
    """
    found, at = [], 0
    for draft in drafts:
        rest = tokens[at:]
        same = [a == b for a, b in zip(draft, rest)]
        accepted = [*same, False].index(False)
        rejected = accepted < len(same)
        if draft:
            found.append(Judged(accepted, int(rejected), len(draft) if rejected else accepted))
        at += accepted + 1
    return tuple(found)
