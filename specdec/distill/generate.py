"""A batch of texts, decoded side by side; whoever has ended leaves the batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from specdec.distill.batched import begin, common_prefix, forward
from specdec.distill.texts import TOPS, Text
from specdec.law import GREEDY_BELOW

if TYPE_CHECKING:
    from specdec.models.llama import Llama

LEAVE_AT = 0.25  # share of ended texts at which they are taken out of the batch


def write_batch(
    model: Llama,
    prompts: Sequence[Sequence[int]],
    temperatures: np.ndarray,
    uniforms: np.ndarray,
    stop_ids: Sequence[int],
    top_k: int = 0,
) -> list[Text]:
    """A text for each prompt, drawn with uniforms [n, B] at temperatures [B], n tokens at most."""
    with torch.inference_mode():
        size, device = len(prompts), model.device
        new, tops = len(uniforms), min(TOPS, model.vocab_size)
        written = np.zeros((size, new), np.int64)
        top, p = np.zeros((size, new, tops), np.int64), np.zeros((size, new, tops), np.float16)
        lengths = np.full(size, new)
        rows = np.arange(size)  # which text each row of the batch is; the ended ones leave it
        done = np.zeros(size, bool)
        cache, hidden, real, lines, at = _read(model, prompts, new)
        for step in range(new):
            logits = model.logits(hidden[:, -1]).float()  # [b, V]
            best, ids = logits.topk(tops)
            chances = (best - logits.logsumexp(-1, keepdim=True)).exp()
            t, u = (torch.from_numpy(x[rows]).to(device) for x in (temperatures, uniforms[step]))
            token = drawn(logits, t, u, top_k)
            written[rows, step], top[rows, step] = token.cpu(), ids.cpu()
            p[rows, step] = chances.cpu()
            ends = np.isin(written[rows, step], stop_ids) & ~done
            lengths[rows[ends]], done = step + 1, done | ends
            if done.all() or step + 1 == new:
                break
            if done.mean() >= LEAVE_AT:
                stay = torch.from_numpy(np.flatnonzero(~done)).to(device)
                cache, real, lines, token = cache[:, stay], real[stay], lines[stay], token[stay]
                rows, done = rows[~done], done[~done]
            place = at + step
            sees = real[:, None, : place + 1]
            hidden = forward(model, token[:, None], (lines + step)[:, None], cache, place, sees)
    return [
        Text(
            np.array(prompts[i]), *(x[i, : lengths[i]] for x in (written, top, p)), temperatures[i]
        )
        for i in range(size)
    ]


def drawn(logits: Tensor, temperatures: Tensor, u: Tensor, top_k: int = 0) -> Tensor:
    """The ids [B] that uniforms u [B] draw from the `top_k` likeliest (0: all) at a temperature.

    Inverse CDF, the likeliest first; greedy is the lowest id among the maxima.
    """
    best, ids = logits.double().topk(min(top_k or logits.shape[-1], logits.shape[-1]))
    law = (best / temperatures.clamp(min=GREEDY_BELOW)[:, None]).softmax(-1)
    cdf = law.cumsum(-1)
    at = (cdf <= (u[:, None] * cdf[:, -1:])).sum(-1, keepdim=True).clamp(max=ids.shape[-1] - 1)
    everything = torch.arange(logits.shape[-1], device=logits.device)
    is_best = logits == logits.amax(-1, keepdim=True)
    greedy = torch.where(is_best, everything, logits.shape[-1]).amin(-1)
    return torch.where(temperatures < GREEDY_BELOW, greedy, ids.gather(-1, at)[:, 0])


def _read(
    model: Llama, prompts: Sequence[Sequence[int]], new: int
) -> tuple[Tensor, Tensor, Tensor, Tensor, int]:
    """The prompts, padded on the left: cache, last hidden rows, which entries are real [B, T],
    the next position of each [B], and the entry that comes next."""
    prefix, device = common_prefix(prompts), model.device
    n, longest = len(prefix), max(map(len, prompts))
    pad = torch.tensor([longest - len(prompt) for prompt in prompts])
    ids = torch.tensor([[0] * (longest - len(x)) + [int(i) for i in x[n:]] for x in prompts])
    cache, _ = begin(model, prefix, len(prompts), longest + new)
    at = torch.arange(longest + new)
    real = (at < n) | (at >= n + pad[:, None])  # [B, T]
    causal = at[n:longest, None] >= at[:longest]  # [S, longest]
    own = at[n:longest, None] == at[:longest]  # padding sees itself: no row without any key
    sees = (causal & real[:, None, :longest]) | own
    positions = (at[n:longest] - pad[:, None]).clamp(min=0)
    where = [x.to(device) for x in (ids, positions, sees)]
    hidden = forward(model, *where[:2], cache, n, where[2])
    return cache, hidden, real.to(device), (longest - pad).to(device), longest
