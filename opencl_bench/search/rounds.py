"""Choices in rounds: each round is prepared as a whole before its first choice is tried."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from coarsen.opencl_bench.search.budget import BudgetedEvaluator
from coarsen.opencl_bench.search.spaces import Choice

# Large enough for all processors to compile, small enough to see results soon.
_ROUND = 16


def in_rounds(evaluator: BudgetedEvaluator, choices: Iterable[Choice], size: int = _ROUND) -> Iterator[Choice]:
    """Enumerate choices in their order, after the evaluator was told of each round to come.

    Args:
        evaluator: is told; what is tried is left to the caller.
        choices: are taken a round at a time.
        size: of a round.
    """
    remaining = iter(choices)
    while taken := list(itertools.islice(remaining, size)):
        evaluator.prepare(taken)
        yield from taken
