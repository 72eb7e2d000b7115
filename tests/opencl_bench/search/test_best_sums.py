"""The least sums, in order, without visiting the space."""

from __future__ import annotations

import itertools
import random
import tracemalloc
from collections.abc import Callable, Sequence

import pytest

from coarsen.tuning.search.additive_design import Terms, ascending_sums
from coarsen.tuning.search.spaces import Choice


def least_sums(
    terms: Sequence[Terms], count: int, is_wanted: Callable[[Choice], bool]
) -> list[tuple[float, Choice]]:
    """Return the `count` least sums, in order, of the choices that are wanted; fewer where there are no more."""
    wanted = (entry for entry in ascending_sums(terms) if is_wanted(entry[1]))
    return list(itertools.islice(wanted, count))


def terms_of(lengths: list[int], draw: random.Random) -> list[dict[int, float]]:
    """Whole numbers, so that sums are exact in any order, and often equal."""
    return [{index: float(draw.randrange(-20, 20)) for index in range(length)} for length in lengths]


@pytest.mark.parametrize("seed", range(200))
def test_least_sums_are_those_of_enumeration(seed: int) -> None:
    draw = random.Random(seed)
    terms = terms_of([draw.randint(1, 6) for _ in range(draw.randint(1, 5))], draw)
    modulus = draw.randint(1, 5)

    def is_wanted(choice: Choice) -> bool:
        return sum(choice) % modulus == 0

    found = least_sums(terms, 12, is_wanted)
    every = [choice for choice in itertools.product(*terms) if is_wanted(choice)]
    sums = sorted(sum(entries[index] for entries, index in zip(terms, choice, strict=True)) for choice in every)
    assert [total for total, _ in found] == sums[:12]
    assert len({choice for _, choice in found}) == len(found)
    for total, choice in found:
        assert is_wanted(choice)
        assert total == sum(entries[index] for entries, index in zip(terms, choice, strict=True))


def test_all_sums_are_there_once_in_order() -> None:
    terms = [{3: 0.1, 5: 0.7}, {0: 0.2}, {1: 0.3, 2: 0.3, 9: -0.4}]
    found = list(ascending_sums(terms))
    assert sorted(choice for _, choice in found) == sorted(itertools.product(*terms))
    assert [total for total, _ in found] == sorted(total for total, _ in found)
    assert found[0][1] == (3, 0, 9)


@pytest.mark.parametrize("lengths", [[3, 3, 3, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2, 5], [10] * 9])
def test_a_huge_space_is_not_visited(lengths: list[int]) -> None:
    terms = terms_of(lengths, random.Random(0))
    visited = itertools.count()
    tracemalloc.start()
    found = least_sums(terms, 5, lambda choice: next(visited) >= 0 and sum(choice) % 2 == 0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found) == 5
    assert next(visited) < 1000
    assert peak < 1_000_000


def test_an_axis_without_terms_has_no_sums() -> None:
    assert least_sums([{0: 1.0}, {}], 5, lambda _: True) == []
