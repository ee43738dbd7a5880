"""Other engines from the package index as arms of the bench, where they are installed.

Both decode with transformers' networks over the pair's own weights, so only the loop around the
passes is theirs.
"""

from __future__ import annotations

import importlib.util
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specdec.bench_arms import Arm, Output
from specdec.bench_peers import quiet

PROMPTS = ("What is a glaze?", "Write a line of Python.", "Why does bread rise?")  # for an export


def others(pair: Any, k: int) -> list[Arm]:
    """`economize` and `flashspec`, each only if it is installed, with k drafted tokens a round."""
    kinds = {"economize": Economize, "flashspec": Flashspec}
    return [kinds[name](pair, k) for name in kinds if importlib.util.find_spec(name)]


@dataclass
class Economize:
    """The library's two-model decoding (0.3); it counts its passes itself."""

    pair: Any
    k: int
    name: str = "economize"
    _model: Any = None

    def run(self, prompt: Sequence[int], n: int) -> Output:
        """Decode once. The first time builds the model from a folder of the drafter."""
        import economize
        import torch

        with silent():
            if self._model is None:
                self._model = self._made()
            how = economize.DecodeConfig(cycle_length=self.k + 1)
            ids, ends = torch.tensor(list(prompt)), list(self.pair.stop_ids)
            began = time.perf_counter()
            with torch.inference_mode():
                out = self._model.decode(ids, n, decoding=how, stop=ends or None)
            seconds = time.perf_counter() - began
        cost = out.cost_summary()
        tokens = _cut(out.tokens.tolist(), ends, n)
        return Output(tokens, seconds, cost["exact_calls"], cost["draft_steps"])

    def _made(self) -> Any:
        import economize
        from economize.techniques.draft_model.config import DraftModelConfig

        from specdec.models.networks import target_network

        target = target_network(self.pair)
        with tempfile.TemporaryDirectory() as place:
            folder = _folder(self.pair, Path(place))
            return economize.apply(target, DraftModelConfig(model=str(folder)))


@dataclass
class Flashspec:
    """The library's engine (0.3) with the small model as its one arm; passes counted by hooks."""

    pair: Any
    k: int
    name: str = "flashspec"
    _engine: Any = None

    def run(self, prompt: Sequence[int], n: int) -> Output:
        """Decode once."""
        import torch

        with silent():
            if self._engine is None:
                self._engine, self._networks = self._made()
            ids = torch.tensor([list(prompt)])
            with counted(self._networks) as passes:
                began = time.perf_counter()
                out = self._engine.generate(ids, max_new_tokens=n)
                seconds = time.perf_counter() - began
        written = out.output_ids[0, : out.n_tokens_generated].tolist()
        return Output(_cut(written, self.pair.stop_ids, n), seconds, *passes)

    def _made(self) -> tuple[Any, tuple[Any, Any]]:
        import flashspec
        import torch
        from flashspec.engine import HuggingFaceDrafter, TargetModel

        from specdec.models.networks import draft_network, target_network

        target, run_in = target_network(self.pair), (torch.device("cpu"), self.pair.target.dtype)
        small = draft_network(self.pair, target)
        config = flashspec.FlashSpecConfig(
            device="cpu",
            eos_token_ids=tuple(self.pair.stop_ids),
            drafter_strategy="bandit",
            bandit=flashspec.BanditConfig(n_arms=1),
            sampling=flashspec.SamplingConfig(temperature=0.0, gamma=self.k),
        )
        engine = flashspec.SpeculativeEngine(
            config,
            [HuggingFaceDrafter("small", *run_in, model=small)],
            TargetModel("target", *run_in, model=target),
        )
        return engine, (target, small)


@contextmanager
def counted(networks: Sequence[Any]) -> Iterator[list[int]]:
    """How many forward passes each network makes while this is open."""
    passes = [0] * len(networks)

    def hook(i: int):
        def count(*_: Any) -> None:
            passes[i] += 1

        return count

    hooks = [n.register_forward_pre_hook(hook(i)) for i, n in enumerate(networks)]
    try:
        yield passes
    finally:
        for one in hooks:
            one.remove()


@contextmanager
def silent() -> Iterator[None]:
    """Neither warnings nor log lines of a library in the table."""
    import logging

    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with quiet(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def _folder(pair: Any, place: Path) -> Path:
    """A folder of the drafter: its own, or one that it is exported to with all of its ids."""
    if getattr(pair.draft, "folder", None):
        return pair.draft.folder
    from specdec.distill.export import export

    return export(pair.target.folder, pair.draft.file, place / "small", PROMPTS)


def _cut(tokens: Sequence[int], ends: Sequence[int], n: int) -> tuple[int, ...]:
    """At most n tokens, up to the first that ends a text."""
    kept = list(tokens)[:n]
    at = next((i + 1 for i, token in enumerate(kept) if token in set(ends)), n)
    return tuple(kept[:at])
