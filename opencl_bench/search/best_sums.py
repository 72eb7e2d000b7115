"""The least sums of one term from each of several lists, in order, by a heap.

    terms of axis 0 + terms of axis 1 + …  ──▶  choices by ascending sum

Only what is asked for is visited, and one step more along each axis: a space of 10⁹ points costs nothing.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence

from coarsen.opencl_bench.search.spaces import Choice

Terms = Mapping[int, float]


def ascending_sums(terms: Sequence[Terms]) -> Iterator[tuple[float, Choice]]:
    """Enumerate every choice of one term for each axis, the least sum first, each once.

    Args:
        terms: the term of each index that may be chosen, one mapping for each axis.
    """
    if not all(terms):
        return
    orders = [sorted(entries, key=entries.__getitem__) for entries in terms]
    values = [[entries[index] for index in order] for entries, order in zip(terms, orders, strict=True)]
    start = (0,) * len(terms)
    heap = [(_sum(values, start), start, 0)]
    while heap:
        total, ranks, advanced = heapq.heappop(heap)
        yield total, tuple(order[rank] for order, rank in zip(orders, ranks, strict=True))
        # One way alone leads to each choice: its axes are advanced from the first to the last.
        for place in range(advanced, len(ranks)):
            if ranks[place] + 1 < len(orders[place]):
                after = (*ranks[:place], ranks[place] + 1, *ranks[place + 1 :])
                heapq.heappush(heap, (_sum(values, after), after, place))


def least_sums(
    terms: Sequence[Terms], count: int, is_wanted: Callable[[Choice], bool]
) -> list[tuple[float, Choice]]:
    """Return the `count` least sums, in order, of the choices that are wanted; fewer where there are no more."""
    wanted = (entry for entry in ascending_sums(terms) if is_wanted(entry[1]))
    return list(itertools.islice(wanted, count))


def _sum(values: Sequence[Sequence[float]], ranks: Sequence[int]) -> float:
    # Added up anew in one order: a larger term never makes a smaller sum, which adding differences would not keep.
    return sum(column[rank] for column, rank in zip(values, ranks, strict=True))
