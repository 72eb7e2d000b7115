"""Spaces of a search: named finite axes, and which choices of one value each can't run.

    axes: local_size × factor_0 × layout_bodies × …
        under a test of validity that is known before anything is tried

A space is never enumerated to be searched: what is here asks of it its axes and whether a choice is valid. Only
spaces of at most `ENUMERABLE` choices are counted and shuffled; larger ones are drawn from.
"""

from __future__ import annotations

import abc
import itertools
import math
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from coarsen.errors import InvalidInputError
from coarsen.variant.space import VariantSpace
from coarsen.variant.variant import Variant

Choice = tuple[int, ...]
ENUMERABLE = 1_000_000
# Choices looked at for a valid one near the defaults, before any is drawn.
_DEFAULT_TESTS = 100_000


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


class SearchSpace(abc.ABC):
    """What a search knows of its space before it tries anything."""

    @property
    @abc.abstractmethod
    def axes(self) -> tuple[Axis, ...]:
        """The axes, in the order of a choice's indices."""

    @abc.abstractmethod
    def is_valid(self, choice: Choice) -> bool:
        """Return True if nothing is known against a choice; it may still fail when it is tried."""

    @property
    def listed(self) -> Collection[Choice] | None:
        """The valid choices in ascending order, where the space lists them faster than by testing every choice."""
        return None

    def standing(self, choice: Choice) -> Choice:
        """Return the choice that stands for what a choice makes, valid or not."""
        return choice


def size(space: SearchSpace) -> int:
    """Return the number of choices, valid or not."""
    return math.prod(len(axis.values) for axis in space.axes)


def is_choice(space: SearchSpace, choice: Choice) -> bool:
    """Return True for one index within each axis."""
    return len(choice) == len(space.axes) and all(
        0 <= index < len(axis.values) for index, axis in zip(choice, space.axes, strict=True)
    )


def valid_choices(space: SearchSpace) -> Iterator[Choice]:
    """Enumerate the valid choices in ascending order: the last axis changes fastest."""
    if space.listed is not None:
        return iter(space.listed)
    every = itertools.product(*(range(len(axis.values)) for axis in space.axes))
    return filter(space.is_valid, every)


def is_enumerable(space: SearchSpace, limit: int = ENUMERABLE) -> bool:
    """Return True if enumerating the valid choices takes at most `limit` tests, or none."""
    return space.listed is not None or size(space) <= limit


def count_valid(space: SearchSpace, limit: int = ENUMERABLE) -> int | None:
    """Return the number of valid choices by enumeration; None for a space of more than `limit` choices."""
    return sum(1 for _ in valid_choices(space)) if is_enumerable(space, limit) else None


def has_at_most(space: SearchSpace, count: int, tests: int = ENUMERABLE) -> bool:
    """Return True if a space has at most `count` valid choices.

    A space where `tests` choices are too few to tell counts as one with more.
    """
    if space.listed is not None:
        return len(space.listed) <= count
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


def default_choice(space: SearchSpace) -> Choice | None:
    """Return the valid choice nearest to the defaults; None for a space that seems to have none."""
    near = itertools.islice(_nearest_first(space), _DEFAULT_TESTS)
    found = next(filter(space.is_valid, near), None)
    return found if found is not None else next(random_order(space, random.Random(0)), None)


def _nearest_first(space: SearchSpace) -> Iterator[Choice]:
    """Enumerate the choices, those that differ from the defaults in the fewest axes first."""
    places = range(len(space.axes))
    for distance in range(len(places) + 1):
        for some in itertools.combinations(places, distance):
            for indices in itertools.product(*(range(1, len(space.axes[place].values)) for place in some)):
                changed = dict(zip(some, indices, strict=True))
                yield tuple(changed.get(place, 0) for place in places)


# Uniform draws from the valid choices of a space.

# Larger spaces are drawn from, smaller ones shuffled.
_SHUFFLED = 100_000
# Draws in a row without a new valid choice before the space is taken to have no more.
_VAIN_DRAWS = 100_000


def is_shuffled(space: SearchSpace) -> bool:
    """Return True if the random order of a space surely has all its valid choices."""
    return is_enumerable(space, _SHUFFLED)


def random_order(space: SearchSpace, draw: random.Random) -> Iterator[Choice]:
    """Enumerate valid choices in random order, each once: whatever was taken, all others come next equally likely.

    A small space is shuffled. Of a large one choices are drawn; those that are invalid or came before are drawn
    again; it ends once that happens too often in a row.
    """
    if is_shuffled(space):
        choices = list(valid_choices(space))
        draw.shuffle(choices)
        return iter(choices)
    return _drawn(space, draw)


def _drawn(space: SearchSpace, draw: random.Random) -> Iterator[Choice]:
    lengths = [len(axis.values) for axis in space.axes]
    seen: set[Choice] = set()
    vain = 0
    while vain < _VAIN_DRAWS:
        choice = tuple(draw.randrange(length) for length in lengths)
        vain += 1
        if choice not in seen and space.is_valid(choice):
            vain = 0
            seen.add(choice)
            yield choice


# A kernel's configuration space as one to search: coarsenings, launches, transforms and macros as axes.

# Choices that stand for a variant: more are not listed.
_MOST_LISTED = 200_000


class NamedVariants(SearchSpace):
    """A space of variants that are named one by one, on one axis.

    Args:
        variants: each once.
    """

    def __init__(self, variants: Sequence[Variant]) -> None:
        self._axes = (Axis("variant", tuple(variants)),)

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The one axis."""
        return self._axes

    def is_valid(self, choice: Choice) -> bool:
        """Return True: each is named."""
        return True

    def variant(self, choice: Choice) -> Variant:
        """Return the variant of a choice."""
        found: Variant = self._axes[0].values[choice[0]]
        return found


class VariantSearchSpace(SearchSpace):
    """The choices of a configuration space that stand for a variant which may run.

    Few of the combinations stand for a variant, so that testing every one takes long: where these are not too
    many, they are listed once.

    Args:
        space: the dimensions, and the constraints.
        most_listed: of more choices that stand for a variant nothing is listed.
    """

    def __init__(self, space: VariantSpace, most_listed: int = _MOST_LISTED) -> None:
        self.space = space
        self._most_listed = most_listed

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The dimensions of the space, in its order."""
        return tuple(Axis(each.name, each.values) for each in self.space.dimensions)

    @cached_property
    def listed(self) -> Mapping[Choice, None] | None:
        """The valid choices in ascending order; None where too many choices stand for variants."""
        standing = self.space.standing_choices(self._most_listed)
        return None if standing is None else dict.fromkeys(filter(self._may_run, standing))

    def is_valid(self, choice: Choice) -> bool:
        """Return True if a choice stands for a variant, against which nothing is known."""
        return self._may_run(choice) if self.listed is None else choice in self.listed

    def has(self, variant: Variant) -> bool:
        """Return True if the space has a variant, against which nothing is known."""
        try:
            return self.is_valid(self.choice_of(variant))
        except InvalidInputError:
            return False

    def variant(self, choice: Choice) -> Variant:
        """Return the variant of a valid choice.

        Raises:
            InvalidInputError: another choice stands for it, or it coarsens too much.
        """
        variant = self.space.variant(choice)
        if variant is None:
            raise InvalidInputError(f"{choice} stands for no variant of the space: ask is_valid first")
        return variant

    def choice_of(self, variant: Variant) -> Choice:
        """Return the choice that stands for a variant.

        Raises:
            InvalidInputError: the variant is not in the space.
        """
        try:
            return self.space.choice_of(variant)
        except ValueError as error:
            raise InvalidInputError(f"not in the space: {variant}") from error

    def standing(self, choice: Choice) -> Choice:
        """Return the choice that stands for the same variant: one without a stride where nothing is merged."""
        return self.space.standing(choice)

    def _may_run(self, choice: Choice) -> bool:
        variant = self.space.variant(choice)
        return variant is not None and self.space.violation(variant) is None


def number_of(value: object) -> float | None:
    """Return the number that a value is or spells; None for any other value."""
    if not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except ValueError:
        return None
