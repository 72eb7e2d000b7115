"""Made spaces and tables of times for tests of searches."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product

from coarsen.tuning.search.spaces import Axis, Choice, ConstrainedSpace, SearchSpace, anything


def space_of(
    shared: Sequence[int], independent: Sequence[int], constraint: Callable[[Choice], bool] = anything
) -> ConstrainedSpace:
    """A space of shared axes, then independent ones, of so many values each."""
    axes = [Axis(f"shared{n}", tuple(range(length))) for n, length in enumerate(shared)]
    axes += [Axis(f"independent{n}", tuple(range(length)), shared=False) for n, length in enumerate(independent)]
    return ConstrainedSpace(tuple(axes), constraint)


def every_choice(space: SearchSpace) -> Iterator[Choice]:
    """All choices, valid or not."""
    return product(*(range(len(axis.values)) for axis in space.axes))


def additive_times(space: SearchSpace, seed: int, noise: float = 0.0) -> dict[Choice, float]:
    """Times to which each independent value adds something of its own for each combination of shared values."""
    draw = random.Random(seed)
    term: dict[tuple[Choice, int, int], float] = {}
    shared = [place for place, axis in enumerate(space.axes) if axis.shared]
    for choice in every_choice(space):
        combination = tuple(choice[place] for place in shared)
        for place, index in enumerate(choice):
            key = (combination, place, index if place not in shared else 0)
            term.setdefault(key, draw.uniform(1, 10))
    return {
        choice: draw.gauss(1, noise)
        * sum(
            term[tuple(choice[p] for p in shared), place, index if place not in shared else 0]
            for place, index in enumerate(choice)
        )
        for choice in every_choice(space)
        if space.is_valid(choice)
    }


class GuardedTimes(Mapping[Choice, float | None]):
    """Times that can be looked up one by one, each look-up noted, and in no other way."""

    def __init__(self, times: Mapping[Choice, float | None]) -> None:
        self._times = times
        self.looked_up: list[Choice] = []

    def __getitem__(self, choice: Choice) -> float | None:
        self.looked_up.append(choice)
        return self._times[choice]

    def __iter__(self) -> Iterator[Choice]:
        raise AssertionError("a search read the whole table")

    def __len__(self) -> int:
        raise AssertionError("a search asked how long the table is")
