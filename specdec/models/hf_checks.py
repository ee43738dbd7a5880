"""Which models of transformers can be used: told by the config, then by what a cache gives."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from specdec.models.hf import HFModel
    from specdec.models.hf_scorer import HFScorer

# A running state goes on rightly over several tokens in these only; each one is tested.
RUNNING = ("falcon_h1", "granitemoehybrid", "mamba2", "qwen3_5_text", "qwen3_next")
SHORT = ("lfm2",)  # convolutions over a few tokens: they record their past, as windows do
PROBE = 12  # tokens


def read_config(folder: Path) -> Any:
    """The config of a checkpoint folder; no code of the folder is run."""
    from transformers import AutoConfig

    if not (folder / "config.json").is_file():
        raise ValueError(f"{folder} is no checkpoint folder: it has no config.json.")
    try:
        return AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    except (KeyError, OSError, ValueError) as error:
        raise ValueError(f"The config of {folder} cannot be read: {error}") from error


def check(config: Any) -> None:
    """ValueError, before any weight is read, if the model cannot be used here."""
    from transformers import MODEL_FOR_CAUSAL_LM_MAPPING

    kind = config.model_type
    if type(config) not in MODEL_FOR_CAUSAL_LM_MAPPING or config.is_encoder_decoder:
        raise ValueError(f"{kind!r} is no causal language model: it cannot continue a text.")
    if getattr(config, "quantization_config", None):
        raise ValueError("The checkpoint is quantised; expand its weights to bf16 or fp32 first.")
    text = config.get_text_config(decoder=True)
    if has_state(config) and text.model_type not in RUNNING + SHORT:
        raise ValueError(
            f"{kind!r} keeps a running state, which cannot go back to where a draft was rejected; "
            f"of such models only {', '.join(RUNNING + SHORT)} are supported."
        )


def context(config: Any) -> int | None:
    """The most tokens of a sequence; None if the architecture sets no limit.

    RoPE that is scaled by length would turn new keys otherwise than the cached ones beyond the
    first training's length: the context ends there.
    """
    names = ("max_position_embeddings", "max_seq_len", "context_length")
    limits = [getattr(config, name, None) for name in names]
    scalings = getattr(config, "rope_parameters", None) or {}
    for scaling in [x for x in scalings.values() if isinstance(x, dict)] or [scalings]:
        if scaling.get("rope_type") in ("longrope", "dynamic"):
            limits.append(scaling.get("original_max_position_embeddings"))
    return min((int(limit) for limit in limits if limit), default=None)


def has_state(config: Any) -> bool:
    """Whether some layer keeps a running state or a convolution's past."""
    return any(hasattr(layer, "recurrent_states") for layer in layers(config))


def has_windows(config: Any) -> bool:
    """Whether some layer leaves tokens behind, unless it is told to record them."""
    return any(hasattr(layer, "activate_past_recording") for layer in layers(config))


def layers(config: Any) -> list[Any]:
    """The layers of an empty cache for this config: they say how it is taken back."""
    from transformers import DynamicCache

    return DynamicCache(config=config).layers


def counting(cache: Any) -> list[Any]:
    """The layers of a cache that hold keys of their own, and so can count tokens."""
    own = [layer for layer in cache.layers if hasattr(layer, "get_seq_length")]
    return [layer for layer in own if layer.is_initialized]


def probe(model: HFModel) -> int:
    """Bytes that a token takes in the cache; ValueError unless a cache taken back serves.

    A few tokens at once, and again in parts with a wrong turn, must give the same logits: then
    no row sees a later token, and nothing of the wrong turn stays.
    """
    whole, ids = model.scorer(), _ids(model)
    try:
        want = whole.score(ids)  # [n, V]
        error = _error(in_parts(model.scorer(), ids), want)
    except (AttributeError, IndexError, RuntimeError, TypeError, ValueError) as wrong:
        raise ValueError(f"{model.kind!r} cannot be decoded with a cache: {wrong}") from wrong
    if want.shape[1] != model.vocab_size:
        raise ValueError(
            f"{model.kind!r} gives {want.shape[1]} logits; its config says {model.vocab_size}."
        )
    if error > _tolerance(model):
        raise ValueError(
            f"{model.kind!r} gives other logits once its cache was taken back (by {error:.0%}): "
            "it looks ahead, or keeps a state that cannot go back."
        )
    return whole.cache_bytes // len(ids)


def same_at_one_shape(model: HFModel, scorer: HFScorer) -> bool:
    """Whether this scorer of a fixed shape gives the model's logits: not all architectures can."""
    ids = _ids(model)
    try:
        return _error(in_parts(scorer, ids), model.scorer().score(ids)) <= _tolerance(model)
    except RuntimeError:  # the shape does not fit
        return False


def in_parts(scorer: HFScorer, ids: Sequence[int]) -> np.ndarray:
    """Logits [n, V] of these tokens in several passes, with a wrong turn that is taken back."""
    first = scorer.score(ids[:3])
    scorer.score(ids[::-1][:4])
    scorer.rollback(2)
    rest = [scorer.score(ids[i:j]) for i, j in ((2, 3), (3, 4), (4, None))]
    return np.concatenate([first[:2], *rest])


def _ids(model: HFModel) -> list[int]:
    return [(37 * i + 11) % model.vocab_size for i in range(min(PROBE, model.context or PROBE))]


def _error(got: np.ndarray, want: np.ndarray) -> float:
    """Of the median row: in low precision a mixture of experts may send a token elsewhere."""
    return float(np.median(np.abs(got - want).max(1) / np.abs(want).max(1)))


def _tolerance(model: HFModel) -> float:
    return 1e-3 if model.dtype.itemsize >= 4 else 0.1
