"""Spaces of a search: named finite axes, and which choices of one value each can't run.

    axes: local_size × factor_0 × layout_bodies × …, each shared or independent
        under a test of validity that is known before anything is tried

A space is never enumerated to be searched: what is here asks of it its axes and whether a choice is valid. Only
spaces of at most `ENUMERABLE` choices are counted and shuffled; larger ones are drawn from.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

Choice = tuple[int, ...]
ENUMERABLE = 1_000_000


@dataclass(frozen=True, slots=True)
class Axis:
    """A named axis of a space.

    Attributes:
        name: tells it from the space's other axes.
        values: at least one, the default first.
        shared: whether its values change what those of other axes contribute to the time (Weber et al. 2015,
            section 4.1: one of D_S, else of D_I).
    """

    name: str
    values: tuple[Any, ...]
    shared: bool = True


class SearchSpace(Protocol):
    """What a search knows of its space before it tries anything."""

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes, in the order of a choice's indices."""
        ...

    def is_valid(self, choice: Choice) -> bool:
        """Return True if nothing is known against a choice; it may still fail when it is tried."""
        ...


@runtime_checkable
class ListedSpace(SearchSpace, Protocol):
    """A space that lists its valid choices itself, faster than by testing every choice."""

    def valid_choices(self) -> Iterator[Choice]:
        """Enumerate the valid choices, each once, in ascending order."""
        ...


@runtime_checkable
class StandingSpace(SearchSpace, Protocol):
    """A space in which several choices may make the same thing, and one of them stands for it."""

    def standing(self, choice: Choice) -> Choice:
        """Return the choice that stands for what a choice makes, valid or not."""
        ...


def anything(_: Choice) -> bool:
    """Return True: the constraint of a space that has none."""
    return True


@dataclass(frozen=True, slots=True)
class ConstrainedSpace:
    """A space of some axes under one test of validity.

    Args:
        axes: in the order of a choice's indices.
        constraint: tells the choices that are valid.
    """

    axes: tuple[Axis, ...]
    constraint: Callable[[Choice], bool] = field(default=anything, compare=False)

    def is_valid(self, choice: Choice) -> bool:
        """Return True if the constraint holds."""
        return self.constraint(choice)


def size(space: SearchSpace) -> int:
    """Return the number of choices, valid or not (Weber et al. 2015, equation 6)."""
    return math.prod(len(axis.values) for axis in space.axes)


def is_choice(space: SearchSpace, choice: Choice) -> bool:
    """Return True for one index within each axis."""
    return len(choice) == len(space.axes) and all(
        0 <= index < len(axis.values) for index, axis in zip(choice, space.axes, strict=True)
    )


def valid_choices(space: SearchSpace) -> Iterator[Choice]:
    """Enumerate the valid choices in ascending order: the last axis changes fastest."""
    if isinstance(space, ListedSpace):
        return space.valid_choices()
    every = itertools.product(*(range(len(axis.values)) for axis in space.axes))
    return filter(space.is_valid, every)


def is_enumerable(space: SearchSpace, limit: int = ENUMERABLE) -> bool:
    """Return True if enumerating the valid choices takes at most `limit` tests, or none."""
    return isinstance(space, ListedSpace) or size(space) <= limit


def count_valid(space: SearchSpace, limit: int = ENUMERABLE) -> int | None:
    """Return the number of valid choices by enumeration; None for a space of more than `limit` choices."""
    return sum(1 for _ in valid_choices(space)) if is_enumerable(space, limit) else None


def has_at_most(space: SearchSpace, count: int, tests: int = ENUMERABLE) -> bool:
    """Return True if a space has at most `count` valid choices.

    A space where `tests` choices are too few to tell counts as one with more.
    """
    if isinstance(space, ListedSpace):
        return sum(1 for _ in itertools.islice(space.valid_choices(), count + 1)) <= count
    every = itertools.product(*(range(len(axis.values)) for axis in space.axes))
    found = filter(space.is_valid, itertools.islice(every, tests))
    return size(space) <= max(count, tests) and sum(1 for _ in itertools.islice(found, count + 1)) <= count


def neighbours(space: SearchSpace, choice: Choice) -> Iterator[Choice]:
    """Enumerate the valid choices that differ from one in one axis."""
    for place, axis in enumerate(space.axes):
        for index in range(len(axis.values)):
            near = (*choice[:place], index, *choice[place + 1 :])
            if index != choice[place] and space.is_valid(near):
                yield near


def shared_places(space: SearchSpace) -> tuple[int, ...]:
    """Return where in a choice the shared axes are (D_S)."""
    return tuple(place for place, axis in enumerate(space.axes) if axis.shared)


def independent_places(space: SearchSpace) -> tuple[int, ...]:
    """Return where in a choice the independent axes are (D_I)."""
    return tuple(place for place, axis in enumerate(space.axes) if not axis.shared)


def values_of(space: SearchSpace, choice: Choice) -> dict[str, Any]:
    """Return the values that a choice makes, by the names of the axes."""
    return {axis.name: axis.values[index] for axis, index in zip(space.axes, choice, strict=True)}
