"""Several prompts at once: every run is its own, and their passes are made together.

A run stops where it needs a pass. When all that still go have stopped, one pass over all their rows
answers them, however many tokens each has and however many of them it will accept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Condition
from typing import Any

from specdec import run
from specdec.trace import Trace


def generate(
    pair: Any,
    prompts: Sequence[str | Sequence[int]],
    *,
    each: Sequence[Mapping[str, Any]] | None = None,
    **options: Any,
) -> list[Trace]:
    """The trace of each prompt, as `specdec.generate(pair, prompt, **options)` makes it alone.

    `each`: further options, a mapping for each prompt. The seconds of a round are those of passes
    that it shared, waiting included. ValueError if a run cannot begin or go on.
    """
    each = [{}] * len(prompts) if each is None else each
    if len(each) != len(prompts):
        raise ValueError(f"There are {len(prompts)} prompts, but options for {len(each)}.")
    if not prompts:
        return []
    meeting = Meeting(len(prompts))
    shared = LikePair(pair, meeting)
    runs = [run.rounds(shared, p, **{**options, **own}) for p, own in zip(prompts, each)]
    with ThreadPoolExecutor(len(runs)) as threads:
        try:
            return [done.result() for done in [threads.submit(meeting.go, r) for r in runs]]
        except BaseException:
            meeting.close()
            raise


class Meeting:
    """Where runs wait for passes. Only one of them works at a time, like coroutines."""

    def __init__(self, size: int) -> None:
        self.closed = False
        self._going, self._asked, self._baton = size, [], Condition()

    def close(self) -> None:
        """Let nobody wait any longer."""
        with self._baton:
            self.closed = True
            self._baton.notify_all()

    def go(self, rounds: run.Run) -> Trace:
        """A run from its start to its end, in a thread of its own."""
        with self._baton:
            try:
                for _ in rounds:
                    pass
                return rounds.trace
            finally:
                rounds.close()
                self._going -= 1
                self._answer()

    def score(self, scorer: Any, tokens: Sequence[int], parents: Sequence[int] | None) -> Any:
        """The logits [n, v] of a pass, once all others wait for theirs."""
        answer = Future()
        self._asked.append((scorer, tokens, parents, answer))
        self._answer()
        self._baton.wait_for(lambda: answer.done() or self.closed)
        if not answer.done():
            raise RuntimeError("Another run failed, and this one was given up.")
        return answer.result()

    def _answer(self) -> None:
        if not self._asked or len(self._asked) < self._going:
            return
        asked, self._asked, passes = self._asked, [], {}
        for one in asked:
            scorer = one[0]
            of = scorer.model if hasattr(scorer, "begin") else scorer
            passes.setdefault(id(of), []).append(one)
        for group in passes.values():
            _pass(group)
        self._baton.notify_all()


def _pass(asked: Sequence[tuple]) -> None:
    """One pass for all that ask; if it cannot be, each alone, so that each has its own error."""
    scorers, tokens, parents, answers = zip(*asked)
    try:
        if len(asked) == 1:
            found = [scorers[0].score(tokens[0], parents[0])]
        else:
            from specdec.models.together import score_together

            found = score_together(scorers, tokens, parents)
    except Exception as error:
        if len(asked) == 1:
            answers[0].set_exception(error)
        for one in asked if len(asked) > 1 else ():
            _pass([one])
    else:
        for answer, rows in zip(answers, found):
            answer.set_result(rows)


class Like:
    """Something that passes are asked of at a meeting, and that is all else as it was."""

    def __init__(self, inner: Any, meeting: Meeting) -> None:
        self._inner, self._meeting = inner, meeting

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class LikePair(Like):
    """A pair of two such models."""

    def __init__(self, inner: Any, meeting: Meeting) -> None:
        super().__init__(inner, meeting)
        self.target, self.draft = (LikeModel(m, meeting) for m in (inner.target, inner.draft))


class LikeModel(Like):
    """A model whose scorers meet."""

    def scorer(self, *args: Any, **options: Any) -> LikeScorer:
        return LikeScorer(self._inner.scorer(*args, **options), self._meeting)


class LikeScorer(Like):
    """A cache whose passes are made together with others'."""

    def score(self, tokens: Sequence[int], parents: Sequence[int] | None = None) -> Any:
        return self._meeting.score(self._inner, tokens, parents)
