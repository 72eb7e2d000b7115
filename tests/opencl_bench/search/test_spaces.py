"""Spaces know their neighbours, are counted and drawn from without bias, also where they are too large to list."""

from __future__ import annotations

import itertools
import random
from collections import Counter

from coarsen.tuning.search.spaces import (
    Choice,
    SearchSpace,
    count_valid,
    has_at_most,
    neighbours,
    random_order,
    size,
    valid_choices,
)
from tests.opencl_bench.search.tables import every_choice, space_of


def is_even(choice: Choice) -> bool:
    return sum(choice) % 2 == 0


SMALL = space_of((3, 2, 2), is_even)
HUGE = space_of((10,) * 9, is_even)


class Diagonal(SearchSpace):
    """A space that lists its few valid choices itself, and tests none for it."""

    axes = HUGE.axes
    listed = tuple((index,) * 9 for index in range(10))

    def is_valid(self, choice: Choice) -> bool:
        raise AssertionError(f"{choice} was tested")


def test_valid_choices_are_enumerated_and_counted() -> None:
    assert list(valid_choices(SMALL)) == [choice for choice in every_choice(SMALL) if is_even(choice)]
    assert (size(SMALL), count_valid(SMALL), count_valid(SMALL, limit=11)) == (12, 6, None)
    assert (size(HUGE), count_valid(HUGE)) == (10**9, None)


def test_a_few_valid_choices_are_told_from_many_without_counting() -> None:
    assert [has_at_most(SMALL, count) for count in (5, 6, 7)] == [False, True, True]
    assert not has_at_most(HUGE, 100)
    # None of the first ones is valid: too few tests to tell.
    assert not has_at_most(space_of((10,) * 9, lambda choice: choice[0] == 9), 100, tests=1000)


def test_a_space_that_lists_its_choices_is_not_tested() -> None:
    space = Diagonal()
    assert count_valid(space) == 10
    assert has_at_most(space, 10)
    assert not has_at_most(space, 9)
    assert sorted(random_order(space, random.Random(0))) == list(space.listed)


def test_neighbours_are_valid_and_differ_in_one_axis() -> None:
    assert list(neighbours(SMALL, (0, 1, 1))) == [(2, 1, 1)]
    near = set(neighbours(space_of((3, 2, 2)), (0, 0, 0)))
    assert near == {(1, 0, 0), (2, 0, 0), (0, 1, 0), (0, 0, 1)}


def test_the_random_order_has_each_valid_choice_once_and_no_bias() -> None:
    orders = [list(random_order(SMALL, random.Random(seed))) for seed in range(600)]
    assert all(sorted(order) == list(valid_choices(SMALL)) for order in orders)
    for place in (0, 3):
        counts = Counter(order[place] for order in orders)
        assert len(counts) == 6
        assert all(60 < count < 150 for count in counts.values())


def test_a_huge_space_is_drawn_from() -> None:
    drawn = list(itertools.islice(random_order(HUGE, random.Random(0)), 500))
    assert drawn == list(itertools.islice(random_order(HUGE, random.Random(0)), 500))
    assert len(set(drawn)) == 500
    assert all(map(is_even, drawn))
    counts = Counter(index for choice in drawn for index in choice)
    assert all(350 < counts[index] < 550 for index in range(10))
