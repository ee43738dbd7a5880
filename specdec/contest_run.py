"""Run a contest of drafters: every way in turn, several turns, so that a slow moment hits all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specdec import contest as contests
from specdec import run
from specdec.adaptive import MOST
from specdec.contest import LAWS, PLAIN, RECORDED, Contest, Entry, Foresight
from specdec.decode import speculate
from specdec.drafters import Draft, Oracle
from specdec.hindsight import agreement
from specdec.law import Sampling
from specdec.measure import costs_of
from specdec.presets import Preset
from specdec.trace import Settings, Trace
from specdec.ways import Asked, has_heads, named

ENTRANTS = (
    *("model", "lookup", "heads", "tree", "early-exit", "combined", "adaptive"),
    *("oracle", "random"),
)
BRANCHES = 2  # guesses of a tree for every token that a chain drafts
WARM = 16  # tokens of the runs before the first turn
LONGEST = 48  # tokens of a recorded text: ten ways write it
TINY = 1e-12  # a confidence that ends no draft, and yet makes a drafter say how sure it is


@dataclass(frozen=True)
class Stage:
    """How far a contest is, in [0, 1], what it does, and at its end the result."""

    fraction: float
    words: str
    contest: Contest | None = None


@dataclass(frozen=True)
class Asking:
    """What all entries have in common."""

    pair: Any
    preset: Preset
    sampling: Sampling = Sampling()
    k: int = 4
    n: int = 64
    seed: int = 0

    def options(self, n: int | None = None) -> dict[str, Any]:
        """Keywords of `specdec.plain`."""
        return {
            "sampling": self.sampling,
            "max_new_tokens": n or self.n,
            "seed": self.seed,
            "chat": self.preset.chat,
            "tops": 0,
        }


def possible(pair: Any, greedy: bool = True) -> tuple[str, ...]:
    """The entrants that this pair has: heads only where they were trained, an oracle if greedy.

    A sampled text is another for every drafter, so nobody can be told it beforehand.
    """
    missing = set() if has_heads(pair) else {"heads"}
    missing |= set() if hasattr(pair.target, "layers") else {"early-exit"}
    missing |= set() if greedy else {"oracle"}
    return tuple(name for name in ENTRANTS if name not in missing)


def base(pair: Any) -> str:
    """The drafter whose k adapts."""
    return "heads" if has_heads(pair) else "model"


def contest(asking: Asking, names: Sequence[str], turns: int = 3) -> Iterator[Stage]:
    """One Stage after every run; the last holds the Contest. Stop reading to cancel.

    ValueError for a way that the pair has not.
    """
    pair, greedy = asking.pair, asking.sampling.greedy
    if unknown := set(names) - set(possible(pair, greedy)):
        raise ValueError(f"There is no way {min(unknown)!r} to draft for this pair.")
    asked = _asked_everywhere(pair, names) if greedy else {}
    arms = [PLAIN, *names]
    warmed = dict.fromkeys([PLAIN, base(pair), *names])
    total, done = len(warmed) + turns * len(arms) + len(asked), 0
    for name in warmed:
        yield Stage(done / total, "Warming up")
        warmed[name], done = _run(asking, name, warmed[PLAIN], n=WARM), done + 1
    costs = costs_of(warmed[base(pair)], warmed[PLAIN])
    policy = f"ema c={costs.c:.3f} v={costs.v:.3f}" if costs else "ema"
    runs: dict[str, list[Trace]] = {name: [] for name in arms}
    for turn in range(turns):
        for name in arms:
            yield Stage(done / total, f"Turn {turn + 1} of {turns}: {name}")
            plain = runs[PLAIN][-1] if runs[PLAIN] else None
            runs[name].append(_run(asking, name, plain, policy))
            done += 1
    foresights = []
    for name, most in asked.items():
        yield Stage(done / total, f"Asking at every place of the text: {name}")
        foresights.append(foresee(asking, name, most))
        done += 1
    entries = tuple(_entry(name, traces) for name, traces in runs.items())
    yield Stage(1.0, "Done", Contest(asking.preset.name, entries, tuple(foresights)))


def _run(
    asking: Asking, name: str, plain: Trace | None, policy: str = "ema", n: int | None = None
) -> Trace:
    """One run of a way; an oracle is told the text of `plain`, an adaptive k its policy."""
    pair, options = asking.pair, asking.options(n)
    if name == PLAIN:
        return run.plain(pair, asking.preset.prompt, **options)
    if name == "oracle":
        options |= {"k": asking.k, "drafter": Oracle.of(plain)}
    elif name == "adaptive":
        options |= {"k": MOST, "drafter": base(pair), "adaptive": policy}
    else:
        times = BRANCHES if name == "tree" else 1
        options |= {"k": times * asking.k, "drafter": name}
    return run.generate(pair, asking.preset.prompt, **options)


def _entry(name: str, traces: Sequence[Trace]) -> Entry:
    seconds = tuple(trace.seconds.total for trace in traces)
    return Entry(name, traces[contests.middle(seconds)], seconds)


def _asked_everywhere(pair: Any, names: Sequence[str]) -> dict[str, int]:
    """Drafter → tokens to ask for at each place: many only of the one whose k adapts."""
    single = [name for name in ("model", "lookup", "heads", "early-exit") if name in names]
    found = dict.fromkeys(single, 1)
    return found | ({base(pair): MOST} if "adaptive" in names else {})


class Foreseeing:
    """Asks a drafter in every round, notes what it says, and drafts nothing: plain decoding."""

    def __init__(self, drafter: Any) -> None:
        self.drafter = drafter
        self.said: list[list[int]] = []
        self.sure: list[float | None] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.drafter, name)

    def propose(self, context, k, sampling, uniforms) -> Draft:
        """Nothing."""
        sure = _Certainties(sampling)
        tokens = [int(x) for x in self.drafter.propose(context, k, sure, uniforms).tokens]
        self.said.append(tokens)
        # One that does not say how sure it is claims q = 1.
        self.sure.append((sure.heard[0] if sure.heard else 1.0) if tokens else None)
        return Draft([])


class _Certainties:
    """The same settings; notes how sure a drafter is whenever it looks."""

    def __init__(self, sampling: Sampling) -> None:
        self.sampling, self.heard = sampling, []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.sampling, name)

    def certainty(self, *law: Any) -> float:
        """As the settings' own."""
        self.heard.append(self.sampling.certainty(*law))
        return self.heard[-1]


def foresee(asking: Asking, name: str, most: int) -> Foresight:
    """Plain greedy decoding, with a drafter asked for `most` tokens before every pass."""
    pair, n = asking.pair, asking.n
    ids = run.encode(pair.tokenizer, asking.preset.prompt, chat=asking.preset.chat)
    way, capacity = named(name, pair), len(ids) + n + most + 1
    confidence = TINY if way.confident else 0.0
    settings = Settings(most, name, Sampling(), n, asking.seed, confidence=confidence)
    scorer = pair.target.scorer(capacity=capacity)
    asked = Foreseeing(way.make(Asked(pair, settings, scorer, capacity)))
    options = {"sampling": Sampling(), "max_new_tokens": n, "stop_ids": pair.stop_ids, "tops": 0}
    try:
        rounds = list(speculate(scorer, asked, ids, k=most, **options))
    finally:
        scorer.close()
        if hasattr(asked, "close"):
            asked.close()
    text = [token.id for r in rounds for token in r.written]
    return Foresight(name, most, agreement(asked.said, text), tuple(asked.sure))


def record(
    pair: Any, presets: Sequence[Preset], out: Path, *, k: int, n: int, seed: int, when: str
) -> Iterator[Path]:
    """Hold the contests that the page opens on, of all that the pair has; the files, in turn."""
    folder = out / contests.FOLDER.name
    folder.mkdir(parents=True, exist_ok=True)
    for preset in presets:
        if preset.name in RECORDED:
            for law, temperature in LAWS.items():
                asking = Asking(pair, preset, Sampling(temperature), k, min(n, LONGEST), seed)
                *_, last = contest(asking, possible(pair, asking.sampling.greedy))
                file = folder / f"{preset.name}.{law}.json"
                text = contests.recorded(last.contest, when).to_json()
                file.write_text(text + "\n", encoding="utf-8")
                yield file
