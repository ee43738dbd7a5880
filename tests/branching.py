"""Uniforms that take every value at once: the loop itself, enumerated, without a grid.

A `Branch` knows only the interval in which its uniform lies. Compared with a number inside, it
goes one way in this run and the other way in a later one; the runs' weights are the lengths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import prod
from typing import Any

from specdec import decode

Number = int | Fraction | float


class World:
    """One run: the script says which way to go at each comparison, then always the first."""

    def __init__(self, script: list[bool]) -> None:
        self.script, self.taken = script, []
        self.intervals: dict[Any, list[Number]] = {}  # address → [low, high)

    def uniform(self, address: Any) -> Branch:
        """The uniform of this address, the same one whenever it is asked for."""
        return Branch(self, self.intervals.setdefault(address, [0, 1]))

    def choose(self, interval: list[Number], threshold: Number) -> bool:
        """Whether u < threshold; narrows the interval."""
        low, high = interval
        if not low < threshold < high:
            return high <= threshold
        at = len(self.taken)
        below = self.script[at] if at < len(self.script) else True
        self.taken.append(below)
        interval[:] = (low, threshold) if below else (threshold, high)
        return below

    @property
    def weight(self) -> Number:
        """The chance of this run; exact if all thresholds were."""
        return prod(high - low for low, high in self.intervals.values())


class Branch:
    """scale · u, comparable with numbers, also inside np.searchsorted."""

    def __init__(self, world: World, interval: list, scale: Number = 1) -> None:
        self.world, self.interval, self.scale = world, interval, scale

    def __mul__(self, scale: Number) -> Branch:
        return Branch(self.world, self.interval, self.scale * scale)

    def __lt__(self, threshold: Number | Branch) -> bool:
        if threshold is self:  # np.searchsorted compares each key with the one before
            return False
        return self.world.choose(self.interval, threshold / self.scale)

    def __gt__(self, number: Number) -> bool:
        return not self < number  # equality has no length


class Addresses:
    """Stands for `Uniforms`; with `rounds` False it forgets the round of an address."""

    def __init__(self, world: World, rounds: bool, round: int = 0) -> None:
        self.world, self.rounds, self.round = world, rounds, round

    def of_round(self, round: int) -> Addresses:
        return Addresses(self.world, self.rounds, round if self.rounds else 0)

    def __call__(self, position: int, purpose: int, child: int = 0) -> Branch:
        return self.world.uniform((position, purpose, self.round, child))


def every_way(run: Callable[[World], Any]) -> Iterator[tuple[Number, Any]]:
    """(chance, result) of every way that run(world) can go."""
    script: list[bool] = []
    while True:
        world = World(script)
        result = run(world)
        yield world.weight, result
        script = world.taken
        while script and not script[-1]:
            script.pop()
        if not script:
            return
        script[-1] = False


def every_generation(
    run: Callable[[], Any], monkeypatch, *, rounds: bool = True
) -> Iterator[tuple[float, Any]]:
    """The same for a run() that calls `decode.speculate`, whatever seed it names."""

    def in_world(world: World) -> Any:
        monkeypatch.setattr(decode, "Uniforms", lambda rng: Addresses(world, rounds))
        return run()

    return every_way(in_world)
