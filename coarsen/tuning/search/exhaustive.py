"""Searchers without a model: every choice in ascending order, choices at random, and a staircase."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from coarsen.tuning.search.evaluator import Evaluator
from coarsen.tuning.search.searcher import COMPLETE, Searcher, time_of
from coarsen.tuning.search.spaces import (
    Axis,
    Choice,
    SearchSpace,
    is_enumerable,
    is_shuffled,
    number_of,
    random_order,
    valid_choices,
)

DRAWN_OUT = "no further valid choice was drawn"
REACHED = "the largest values of all parameters were reached"


class ExhaustiveSearcher(Searcher):
    """Tries every valid choice, in ascending order."""

    name = "exhaustive"

    def run(self, evaluator: Evaluator, draw: random.Random) -> str:
        """See `Searcher.run`; nothing is random."""
        return try_all(evaluator)


def try_all(evaluator: Evaluator) -> str:
    """Try every valid choice; return why that ended. Raises BudgetSpentError."""
    evaluator.try_all(valid_choices(evaluator.space))
    return COMPLETE


class RandomSearcher(Searcher):
    """Draws valid choices without replacement (R in Weber et al. 2015, section 6)."""

    name = "random"

    def run(self, evaluator: Evaluator, draw: random.Random) -> str:
        """See `Searcher.run`."""
        evaluator.try_all(random_order(evaluator.space, draw))
        return COMPLETE if is_shuffled(evaluator.space) else DRAWN_OUT


class StaircaseSearcher(Searcher):
    """Raises one parameter after another (Liu, Zhang, Shen, IPDPS 2009).

        base ──▶ each parameter one step higher, the others unchanged ──▶ the fastest of these is the base ──▶ …

    The fastest of those just tried becomes the base also where it is slower than the old one: the search crosses
    ridges that a descent stops at. A parameter at its largest value isn't raised any more; when all are, the
    search ends with the fastest of all that it met. With one parameter it tries every value.

    What fails or breaks a constraint takes infinitely long; it becomes the base where all that were tried do so.
    Of equally fast ones the first parameter's is taken.
    """

    name = "staircase"

    def run(self, evaluator: Evaluator, draw: random.Random) -> str:
        """See `Searcher.run`; nothing is random."""
        parameters = Parameters(evaluator.space)
        base: Vector = (0,) * len(parameters.lengths)
        _times(evaluator, parameters, [base])
        while raised := _raised(parameters, base):
            times = _times(evaluator, parameters, raised)
            base = raised[times.index(min(times))]
        return REACHED


def _raised(parameters: Parameters, base: Vector) -> list[Vector]:
    """The vectors with one parameter a step higher."""
    return [
        (*base[:place], step + 1, *base[place + 1 :])
        for place, step in enumerate(base)
        if step + 1 < parameters.lengths[place]
    ]


def _times(evaluator: Evaluator, parameters: Parameters, vectors: Sequence[Vector]) -> list[float]:
    """The time of each vector; infinity for one that failed or is invalid."""
    choices = [parameters.choice(vector) for vector in vectors]
    evaluator.try_all(choice for choice in choices if choice is not None)
    return [math.inf if choice is None else time_of(evaluator.evaluate(choice)) for choice in choices]


# The parameters of a space as a user declares them: values in ascending order, and what they make.
#
#     a vector of steps, (0, 0, …) the least of each ──▶ the choice that stands for it, or None
#
# A local size that follows from the macros is no parameter: `BLOCK == local_size_0` leaves one size for each
# BLOCK, and raising either alone would make nothing valid.

Vector = tuple[int, ...]
_LOCAL_SIZE = "local_size"
# Larger spaces aren't looked through for what follows from what.
_MOST_TESTS = 100_000


@dataclass(frozen=True)
class Parameters:
    """The parameters of a space, each with its values in ascending order.

    Attributes:
        space: has the axes.
    """

    space: SearchSpace

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """The number of values of each parameter."""
        return tuple(len(self._orders[place]) for place in self._places)

    def choice(self, vector: Vector) -> Choice | None:
        """Return the valid choice that a vector makes; None where there is none."""
        indices = {place: self._orders[place][step] for place, step in zip(self._places, vector, strict=True)}
        choice = self.space.standing(tuple(indices.get(place, 0) for place in range(len(self.space.axes))))
        if self._following is not None:
            return self._following.get(tuple(choice[place] for place in self._places))
        return choice if self.space.is_valid(choice) else None

    def vector(self, choice: Choice) -> Vector:
        """Return the vector that makes a choice which stands for itself."""
        return tuple(self._orders[place].index(choice[place]) for place in self._places)

    def steps(self, choice: Choice) -> list[Choice]:
        """Return the valid choices with one parameter a step lower or higher."""
        here = self.vector(choice)
        near = (
            (*here[:place], step + change, *here[place + 1 :])
            for place, step in enumerate(here)
            for change in (-1, 1)
            if 0 <= step + change < self.lengths[place]
        )
        made = (self.choice(vector) for vector in near)
        return [each for each in dict.fromkeys(made) if each is not None and each != choice]

    @cached_property
    def _orders(self) -> tuple[tuple[int, ...], ...]:
        return tuple(_order(axis) for axis in self.space.axes)

    @cached_property
    def _places(self) -> tuple[int, ...]:
        """The places of the axes that are parameters."""
        dropped = self._local_size if self._following is not None else None
        return tuple(place for place in range(len(self.space.axes)) if place != dropped)

    @cached_property
    def _local_size(self) -> int | None:
        names = [axis.name for axis in self.space.axes]
        return names.index(_LOCAL_SIZE) if _LOCAL_SIZE in names else None

    @cached_property
    def _following(self) -> dict[Choice, Choice] | None:
        """The valid choice for the values of all axes but the local size; None where these leave several."""
        place = self._local_size
        if place is None or len(self.space.axes[place].values) == 1 or not is_enumerable(self.space, _MOST_TESTS):
            return None
        found: dict[Choice, Choice] = {}
        for choice in valid_choices(self.space):
            others = (*choice[:place], *choice[place + 1 :])
            if others in found:
                return None
            found[others] = choice
        return found


def _order(axis: Axis) -> tuple[int, ...]:
    """The indices of an axis's values in ascending order; shapes by their sizes, words as they stand."""
    places, values = tuple(range(len(axis.values))), axis.values
    if all(isinstance(value, tuple) for value in values):
        return tuple(sorted(places, key=lambda place: (math.prod(values[place]), values[place])))
    numbers = [number for value in values if (number := number_of(value)) is not None]
    return tuple(sorted(places, key=numbers.__getitem__)) if len({*numbers}) == len(values) else places
