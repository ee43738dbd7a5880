"""A run from text to text: prompt → ids → rounds with texts → trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from specdec import adaptive as policies
from specdec.adaptive import Policy
from specdec.checks import check_counts
from specdec.decode import speculate
from specdec.drafters import Drafter
from specdec.law import Sampling
from specdec.scores import check
from specdec.text import Typist
from specdec.trace import Memory, Round, Settings, Source, Trace
from specdec.ways import DRAFTERS, WAYS, Asked, named

SPECULATION = ("k", "drafter", "rule", "adaptive", "confidence")  # options without a plain meaning


class Run(Iterator[Round]):
    """Iterates over rounds as they are made; `trace` is the run so far, `close()` ends it early."""

    def __init__(
        self,
        pair: Any,
        prompt: str | Sequence[int],
        settings: Settings,
        drafter: Drafter | None = None,
        tops: int = 10,
        policy: Policy | None = None,
    ) -> None:
        _check(settings, drafter)
        policy = _policy(settings) if policy is None else policy
        whole = {"k": int(settings.k), "max_new_tokens": int(settings.max_new_tokens)}  # 4.0 is 4
        self.settings = settings = replace(settings, **whole, adaptive=policies.name_of(policy))
        self._rounds, self._closed = [], False
        ids = encode(pair.tokenizer, prompt, chat=settings.chat)
        self._typist, self._texts = Typist(pair.texts, ids), pair.texts
        self._first = len(ids)
        capacity = len(ids) + settings.max_new_tokens + (settings.rows or settings.k + 1)
        self._scorer = pair.target.scorer(rows=settings.rows, capacity=capacity)
        if drafter is None:
            drafter = _drafter(Asked(pair, settings, self._scorer, capacity))
        self._drafter = drafter
        self.source = Source(
            "live",
            pair.target.name,
            _name(pair, settings),
            *pair.hardware,
            memory=memory_of(pair, settings),
        )
        self._loop = speculate(
            self._scorer,
            self._drafter,
            ids,
            k=policy,
            sampling=settings.sampling,
            max_new_tokens=settings.max_new_tokens,
            stop_ids=pair.stop_ids,
            rng=settings.seed,
            rule=settings.rule,
            tops=tops,
            ends_at=self._ends_at if settings.stop else None,
        )

    def __next__(self) -> Round:
        try:
            made = next(self._loop)
        except BaseException:
            self.close()
            raise
        self._rounds.append(made)
        if made.stop_reason:
            self.close()  # the caches are of no more use
        return self._typist.type(made)

    def close(self) -> None:
        """Free the caches. A run that had not ended counts as cancelled."""
        self._closed = True
        self._loop.close()
        for cache in (self._scorer, self._drafter):
            if hasattr(cache, "close"):
                cache.close()

    @property
    def prompt_tokens(self) -> int:
        """Tokens of the prompt, its template included."""
        return self._first

    @property
    def trace(self) -> Trace:
        """The run so far; its stop reason is None while it goes on."""
        reason = self._rounds[-1].stop_reason if self._rounds else None
        reason = reason or ("cancelled" if self._closed else None)
        rounds = self._typist.retype(self._rounds, final=reason is not None)
        source = replace(self.source, missing=getattr(self._scorer, "missing", None))
        return Trace(self._typist.prompt, rounds, self.settings, source, reason)

    def _ends_at(self, written: Sequence[int]) -> int | None:
        """How many written tokens to keep: up to the one that completes a stop string."""
        if not self._stops(written):
            return None
        kept = len(written)
        while kept > 1 and self._stops(written[: kept - 1]):  # no further back than this round
            kept -= 1
        return kept

    def _stops(self, written: Sequence[int]) -> bool:
        """Whether the text that ends here has a stop string."""
        texts, _ = self._texts.of([*(t.id for t in self._typist.prompt), *written], self._first)
        text = "".join(texts)
        return any(stop in text for stop in self.settings.stop)


def rounds(
    pair: Any,
    prompt: str | Sequence[int],
    *,
    k: int | str | Policy = 4,
    drafter: str | Drafter = "model",
    sampling: Sampling = Sampling(),
    max_new_tokens: int = 64,
    stop: str | Sequence[str] = (),
    seed: int = 0,
    chat: bool = True,
    rows: int | None = None,
    rule: str = "pq",
    adaptive: str | None = None,
    confidence: float = 0.0,
    tops: int = 10,
    **settings: Any,
) -> Run:
    """Speculative decoding of `prompt` (a text, or ids), a round at a time.

    `drafter`: "model" (the pair's small model), "lookup" (copies from the text), "heads" (one layer
    on the target's features), "tree" (k guesses in all), "early-exit" (the target's first
    layers), "combined" (lookup, else a model), "random", or a Drafter. A tree and a combination
    are the heads' where the pair has some, else the small model's.
    `rows`: every target pass at this fixed shape, so that low precision is bit for bit the same
    for every drafter and k < rows. `k`: a number; or "ema" or "heuristic", or a policy of
    `specdec.adaptive`, for another in every round (`adaptive="ema"` with a number: up to that).
    `confidence`: a draft ends with a token of which its model was less certain. `tops`: entries
    recorded of each law. `temperature=`, `top_k=`, `repetition_penalty=` … override `sampling`.
    """
    name = drafter if isinstance(drafter, str) else type(drafter).__name__
    if isinstance(k, str):
        k, adaptive = min(policies.MOST, rows - 1 if rows else policies.MOST), k
    policy = k if hasattr(k, "after") else None
    k = policy.most if policy else k
    asked = Settings(
        k,
        name if k else "none",
        replace(sampling, **settings),
        max_new_tokens,
        seed,
        rule,
        (stop,) if isinstance(stop, str) else tuple(stop),
        chat,
        rows,
        adaptive if k and not policy else None,
        confidence if k else 0.0,
    )
    return Run(pair, prompt, asked, None if isinstance(drafter, str) else drafter, tops, policy)


def generate(pair: Any, prompt: str | Sequence[int], **options: Any) -> Trace:
    """The whole run of `rounds`, with the same options, as a Trace.

    An error in the midst of it carries what was written until then as its `trace`.
    """
    run = rounds(pair, prompt, **options)
    try:
        for _ in run:
            pass
    except Exception as error:
        error.trace = run.trace
        raise
    return run.trace


def plain(pair: Any, prompt: str | Sequence[int], **options: Any) -> Trace:
    """The target alone, one token a pass; the options of `rounds` but those of SPECULATION."""
    wrong = set(SPECULATION) & set(options)
    if wrong:
        raise TypeError(f"Plain decoding takes no {sorted(wrong)[0]!r}.")
    return generate(pair, prompt, k=0, **options)


def encode(tokenizer: Any, prompt: str | Sequence[int], *, chat: bool) -> list[int]:
    """Ids of a prompt; with `chat` as a user's message in the tokenizer's own template."""
    if not isinstance(prompt, str):
        return [int(i) for i in prompt]
    if chat and getattr(tokenizer, "chat_template", None):
        message = [{"role": "user", "content": prompt}]
        encoded = tokenizer.apply_chat_template(
            message, add_generation_prompt=True, return_dict=True
        )
        return list(encoded["input_ids"])
    ids = list(tokenizer(prompt)["input_ids"])
    if not ids and tokenizer.bos_token_id is not None:
        ids = [tokenizer.bos_token_id]
    return ids


def _drafter(asked: Asked) -> Drafter | None:
    way = named(asked.settings.drafter, asked.pair) if asked.settings.k else None
    return way and way.make(asked)


def _policy(settings: Settings) -> Policy:
    """The policy that the settings name. Where no draft costs a pass c is 0, or what they say."""
    if settings.adaptive is None:
        return policies.Constant(int(settings.k))
    free = settings.drafter in WAYS and not WAYS[settings.drafter].passes
    known = {"c": 0.0} if free and settings.adaptive == "ema" else {}
    return policies.named(settings.adaptive, most=settings.k, **known)


def _name(pair: Any, settings: Settings) -> str:
    if settings.drafter not in WAYS:
        return settings.drafter
    words = named(settings.drafter, pair).words
    return words.format(model=getattr(pair.draft, "name", "model"))


def memory_of(pair: Any, settings: Settings) -> Memory | None:
    """The pair's, with the drafter that it uses; a lookup needs none."""
    memory = getattr(pair, "memory", None)
    known = memory and settings.k and settings.drafter in WAYS
    weighs = named(settings.drafter, pair).weighs if known else ""
    if weighs == "heads":
        weights, token = pair.heads.parameters_bytes, pair.heads.cache_bytes_per_token
        return replace(memory, drafter_weights=weights, drafter_token=token)
    if memory and not weighs:
        return replace(memory, drafter_weights=0, drafter_token=0)
    return memory


def _check(settings: Settings, drafter: Drafter | None) -> None:
    """What is wrong, before any cache is made for it."""
    check_counts(settings.k, settings.max_new_tokens)
    if any(not isinstance(s, str) or not s for s in settings.stop):
        raise ValueError(
            f"The stop strings are {list(settings.stop)}; each must be a text, not empty."
        )
    if drafter is None and settings.k and settings.drafter not in DRAFTERS:
        raise ValueError(
            f"There is no drafter {settings.drafter!r}; there are {', '.join(DRAFTERS)}."
        )
    check("confidence", x := settings.confidence, 0 <= x <= 1, "in [0, 1]")
    takes = drafter is None and (not settings.k or WAYS[settings.drafter].confident)
    if settings.confidence and not takes:
        raise ValueError(
            f"confidence is {settings.confidence}, but {settings.drafter!r} does not take it."
        )
    if settings.rows is not None and settings.k >= settings.rows:
        raise ValueError(f"k is {settings.k}; with rows={settings.rows} it must be smaller.")
