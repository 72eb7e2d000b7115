"""Bases and supports: what an additive prediction has to measure (Weber et al. 2015, section 4.1).

    base      a combination of values of the shared axes, the independent axes at their defaults
    support   a base with one value of one independent axis changed

Where a combination is invalid beside the defaults, the valid choice nearest to these is its base: the values of
the independent axes do not matter there. Where changing one value is invalid, a *relay support* may replace the
support: the valid pair nearest to the base that differs in this value alone.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coarsen.opencl_bench.search.sampling import random_order
from coarsen.opencl_bench.search.spaces import (
    Choice,
    ConstrainedSpace,
    SearchSpace,
    independent_places,
    shared_places,
)

# Choices tested for each base, and for each relay support, before there is taken to be none.
_BASE_TESTS = 5_000
_RELAY_TESTS = 2_000
_DRAWN_COMBINATIONS = 200
FEW_BASES = 4


@dataclass(frozen=True, slots=True)
class Support:
    """A pair of valid choices that differ in one value alone.

    Attributes:
        place: of the axis in which they differ.
        before: the one with the base's value: the base itself, unless this is a relay support.
        after: the one with the value that the support is for.
    """

    place: int
    before: Choice
    after: Choice

    @property
    def index(self) -> int:
        """Return the value that the support is for, as its index in the axis."""
        return self.after[self.place]


def base_count(space: SearchSpace) -> int:
    """Return |C_B|, the number of bases (equation 8)."""
    return math.prod(len(space.axes[place].values) for place in shared_places(space))


def support_count(space: SearchSpace) -> int:
    """Return |C_S|, the number of supports of all bases (equation 9)."""
    return base_count(space) * sum(len(space.axes[place].values) - 1 for place in independent_places(space))


def combinations(space: SearchSpace, origin: Choice) -> Iterator[Choice]:
    """Enumerate every combination of values of the shared axes, each with the independent values of `origin`.

    That of `origin` is the first, the others follow in ascending order.
    """
    yield origin
    shared = set(shared_places(space))
    every = itertools.product(
        *(
            range(len(axis.values)) if place in shared else (origin[place],)
            for place, axis in enumerate(space.axes)
        )
    )
    yield from (choice for choice in every if choice != origin)


def few_combinations(
    space: SearchSpace, origin: Choice, preferred: Sequence[Choice], draw: random.Random
) -> list[Choice]:
    """Return at most four combinations of shared values that have a base, beside the other values of `origin`.

    The first is that of `origin`, then come those of `preferred` in their order; what is missing is drawn.
    """
    drawn = itertools.islice(_drawn_combinations(space, draw), _DRAWN_COMBINATIONS)
    wanted = itertools.chain((origin,), preferred, drawn)
    found: dict[Choice, None] = {}
    for choice in wanted:
        combination = with_shared_values(space, origin, choice)
        if combination not in found and next(base_candidates(space, combination), None) is not None:
            found[combination] = None
            if len(found) == min(FEW_BASES, base_count(space)):
                break
    return list(found)


def with_shared_values(space: SearchSpace, origin: Choice, other: Choice) -> Choice:
    """Return `origin` with the values that another choice has on the shared axes."""
    return tuple(
        there if axis.shared else here for axis, here, there in zip(space.axes, origin, other, strict=True)
    )


def base_candidates(space: SearchSpace, combination: Choice) -> Iterator[Choice]:
    """Enumerate the valid choices with the same shared values, nearest first."""
    near = nearest_first(space, combination, independent_places(space))
    return filter(space.is_valid, itertools.islice(near, _BASE_TESTS))


def supports_of(space: SearchSpace, base: Choice, relays: bool) -> Iterator[Support]:
    """Enumerate the supports of a valid base, axis by axis; the relay supports, where they are wanted, come last.

    A value with neither a valid support nor a relay support is left out.
    """
    missing = []
    for place in independent_places(space):
        for index in _other_indices(space, base, place):
            after = changed(base, place, index)
            if space.is_valid(after):
                yield Support(place, base, after)
            else:
                missing.append((place, index))
    if relays:
        yield from filter(None, (_relay(space, base, place, index) for place, index in missing))


def nearest_first(space: SearchSpace, choice: Choice, places: Sequence[int]) -> Iterator[Choice]:
    """Enumerate the choices that differ from one in some of these places, in the fewest first."""
    for distance in range(len(places) + 1):
        for some in itertools.combinations(places, distance):
            for indices in itertools.product(*(_other_indices(space, choice, place) for place in some)):
                near = list(choice)
                for place, index in zip(some, indices, strict=True):
                    near[place] = index
                yield tuple(near)


def changed(choice: Choice, place: int, index: int) -> Choice:
    """Return a choice with one of its indices replaced."""
    return (*choice[:place], index, *choice[place + 1 :])


def _relay(space: SearchSpace, base: Choice, place: int, index: int) -> Support | None:
    others = [other for other in independent_places(space) if other != place]
    for before in itertools.islice(nearest_first(space, base, others), _RELAY_TESTS):
        after = changed(before, place, index)
        if space.is_valid(before) and space.is_valid(after):
            return Support(place, before, after)
    return None


def _other_indices(space: SearchSpace, choice: Choice, place: int) -> Iterator[int]:
    return (index for index in range(len(space.axes[place].values)) if index != choice[place])


def _drawn_combinations(space: SearchSpace, draw: random.Random) -> Iterator[Choice]:
    shared = shared_places(space)
    for values in random_order(ConstrainedSpace(tuple(space.axes[place] for place in shared)), draw):
        choice = [0] * len(space.axes)
        for place, index in zip(shared, values, strict=True):
            choice[place] = index
        yield tuple(choice)
