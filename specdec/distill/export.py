"""A trained small model as a plain checkpoint of transformers, over the target's whole vocabulary.

A checkpoint's head has no bias, so an id that the small model does not know cannot simply be shut
out. Its row points away from where hidden rows lie on average: its logit is then far below.
"""

from __future__ import annotations

import copy
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from specdec.distill import target, weights
from specdec.distill.batched import hidden_rows
from specdec.models import checkpoint
from specdec.models.llama import Llama
from specdec.models.pairs import small_model
from specdec.models.vocabulary import read_tokenizer
from specdec.run import encode

BELOW = 30.0  # of a missing id's logit under the favourite's: e^-30 each
DRAFTED = 4  # tokens a round, unless the reader says otherwise


@dataclass(frozen=True, eq=False)
class Row:
    """The head's row of every missing id, and what it was found and tried with."""

    weight: Tensor  # [width]
    missing: int
    positions: int
    mass: float  # the most that all missing ids together got at one of the positions


def export(folder: Path, file: Path, out: Path, prompts: Sequence[str]) -> Path:
    """Write the checkpoint with its card to `out`, for `generate(assistant_model=…)`.

    `prompts` are what the rows of missing ids are found with. ValueError if the file holds no small
    model of this target, or if `out` is there already.
    """
    small = weights.load(file)
    if small.kind != "small":
        raise ValueError(
            f"{file} holds heads, which read the target's features; only a small model is a "
            "checkpoint by itself."
        )
    target.check_same(small.facts, folder, file.name)
    if out.exists() and any(out.iterdir()):
        raise ValueError(f"{out} is there already; name a new folder.")
    config, state = checkpoint.read(folder)
    tokenizer = read_tokenizer(folder)
    big = Llama.load(folder, dtype="fp32", device="cpu")
    ids = [encode(tokenizer, prompt, chat=True) for prompt in prompts]
    row = missing_row(small_model(big, file), ids)
    model = model_of(config, state["model.embed_tokens.weight"], small, row)
    making = out.with_name(f"{out.name}.making")
    shutil.rmtree(making, ignore_errors=True)
    try:
        model.save_pretrained(making)
        tokenizer.save_pretrained(making)
        words = card(big.name, small, row, model, sum(w.nbytes for w in state.values()))
        (making / "README.md").write_text(words, encoding="utf-8")
        out.parent.mkdir(parents=True, exist_ok=True)
        making.replace(out)
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return out


@torch.inference_mode()
def missing_row(small: Llama, sequences: Sequence[Sequence[int]]) -> Row:
    """A row whose logit is BELOW the favourite's wherever a hidden row is near their mean."""
    missing = small.vocab_size - len(small.token_ids)
    hidden = torch.cat([rows[1:] for rows in hidden_rows(small, sequences)])
    h, best = small.norm(hidden), small.logits(hidden).amax(-1)  # [n, width], [n]
    mean = h.mean(0)
    along = h @ mean  # [n]
    near = along > 0.1 * mean.square().sum()
    needed = (BELOW - best[near]) / along[near]
    row = (-mean * needed.clamp(min=0).max()).to(torch.bfloat16) if near.any() else 0 * mean
    others = small.logits(hidden).logsumexp(-1)
    mass = missing * (h @ row.float() - others).exp()
    mass = mass / (1 + mass)
    return Row(row.clone(), missing, len(h), float(mass.max()))


def model_of(config: Any, embedding: Tensor, small: weights.Weights, row: Row) -> Any:
    """transformers' model, in bf16."""
    from transformers import AutoModelForCausalLM

    config = copy.deepcopy(config)
    config.num_hidden_layers = sum(n.endswith("input_layernorm.weight") for n in small.state)
    config.tie_word_embeddings, config.dtype = False, torch.bfloat16
    if getattr(config, "layer_types", None):
        config.layer_types = config.layer_types[: config.num_hidden_layers]
    head = row.weight.to(torch.bfloat16).expand(config.vocab_size, -1).clone()
    head[small.ids] = small.state["lm_head.weight"].to(torch.bfloat16)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    state = small.state | {"lm_head.weight": head, "model.embed_tokens.weight": embedding}
    model.load_state_dict(state)
    model.generation_config.num_assistant_tokens = DRAFTED
    model.generation_config.num_assistant_tokens_schedule = "constant"
    return model


def card(name: str, small: weights.Weights, row: Row, model: Any, target_bytes: int) -> str:
    """What it is, and what is lost against the file that it was made from."""
    before = 2 * sum(w.numel() for w in small.state.values())
    head = 2 * model.get_output_embeddings().weight.numel()
    after = before - 2 * small.state["lm_head.weight"].numel() + head
    return f"""# An assistant for {name}

A small model that drafts for {name} and for nothing else, in transformers' format:

```python
model.generate(**inputs, assistant_model=AutoModelForCausalLM.from_pretrained(FOLDER))
```

Lost against the safetensors that it was made from:

* **Speed.** Its head has {len(model.get_output_embeddings().weight)} rows instead of
  {len(small.ids)}: a pass reads {after / 1e6:.1f} MB instead of {before / 1e6:.1f}
  ({after / target_bytes:.3f} of the target's bytes instead of {before / target_bytes:.3f}). The
  embedding table, which the file borrows from the target, is in this checkpoint once more.
* **Exact zeros.** {row.missing} ids that it was not trained for had q = 0. Their rows all point
  away from the mean hidden row; over {row.positions} positions they got {row.mass:.1e} of the
  mass at most. Where a hidden row lies elsewhere they may get more; such a draft is rejected.

The text stays the target's own, greedy and sampled, whatever an assistant proposes.
"""
