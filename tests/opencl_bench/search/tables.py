"""Made spaces and tables of times for tests of searches."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product

from coarsen.tuning.search.evaluator import Evaluator, Trial
from coarsen.tuning.search.spaces import Axis, Choice, SearchSpace


def anything(_: Choice) -> bool:
    """Return True: the constraint of a space that has none."""
    return True


class ConstrainedSpace(SearchSpace):
    """A space of some axes under one test of validity.

    Args:
        axes: in the order of a choice's indices.
        constraint: tells the choices that are valid.
    """

    def __init__(self, axes: tuple[Axis, ...], constraint: Callable[[Choice], bool] = anything) -> None:
        self._axes = axes
        self._constraint = constraint

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes, in the order of a choice's indices."""
        return self._axes

    def is_valid(self, choice: Choice) -> bool:
        """Return True if the constraint holds."""
        return self._constraint(choice)


def space_of(lengths: Sequence[int], constraint: Callable[[Choice], bool] = anything) -> ConstrainedSpace:
    """A space of axes of so many values each."""
    axes = (Axis(f"axis{number}", tuple(range(length))) for number, length in enumerate(lengths))
    return ConstrainedSpace(tuple(axes), constraint)


def every_choice(space: SearchSpace) -> Iterator[Choice]:
    """All choices, valid or not."""
    return product(*(range(len(axis.values)) for axis in space.axes))


def additive_times(space: SearchSpace, seed: int, noise: float = 0.0) -> dict[Choice, float]:
    """Times to which each value adds something of its own."""
    draw = random.Random(seed)
    terms = [[draw.uniform(1, 10) for _ in axis.values] for axis in space.axes]
    return {
        choice: draw.gauss(1, noise) * sum(term[index] for term, index in zip(terms, choice, strict=True))
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


class FunctionEvaluator(Evaluator):
    """An evaluator of a function of the choice.

    Args:
        space: the choices that may be tried.
        time_of: returns the time of a valid choice; None if it fails.
    """

    def __init__(self, space: SearchSpace, time_of: Callable[[Choice], float | None]) -> None:
        super().__init__(space)
        self._time_of = time_of

    def _measure(self, choice: Choice) -> Trial:
        return Trial(choice, self._time_of(choice))
