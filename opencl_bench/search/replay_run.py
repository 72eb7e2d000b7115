"""One run of a searcher on a table, as plain numbers that can be stored."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from coarsen.errors import InternalError
from coarsen.opencl_bench.search.budget import Budget
from coarsen.opencl_bench.search.searcher import Searcher
from coarsen.opencl_bench.search.tables import ReplayEvaluator, Table, with_base

Base = Literal["random", "default"]


@dataclass(frozen=True, slots=True)
class Run:
    """What a searcher tried on a table.

    Attributes:
        times: of the distinct trials in their order, in the table's unit; None if one failed or was killed.
        seconds: what the trials had taken after each of them.
        planned: how many bases and supports the additive searcher measures; None for other searchers.
        notes: what the searcher said of the run.
    """

    times: tuple[float | None, ...]
    seconds: tuple[float, ...]
    planned: int | None
    notes: tuple[str, ...]


def based(table: Table, base: Base, seed: int) -> Table:
    """Return the table that a run searches: from a valid choice that its seed draws, or from its own base."""
    if base == "default":
        return table
    # Not the searcher's own stream of random numbers.
    return with_base(table, random.Random(f"base {seed}").choice(table.space.ordered))


def run_on(table: Table, searcher: Searcher, budget: Budget, seed: int, planned: int | None = None) -> Run:
    """Search a table from its base.

    Args:
        table: with the base to start from.
        searcher: any.
        budget: the most that may be tried.
        seed: of the search.
        planned: see `Run`.

    Raises:
        InvalidInputError: a package is missing.
        InternalError: the searcher tried more than it was allowed.
    """
    evaluator = ReplayEvaluator(table)
    found = searcher.search(evaluator, budget, seed)
    trace = evaluator.trace
    most = budget.most_trials(table.space)
    if most is not None and len(trace) > most:
        raise InternalError(f"{searcher.name} tried {len(trace)} configurations, {most} were allowed")
    seconds = tuple(accumulate(trial.seconds for trial in trace))
    return Run(tuple(trial.time for trial in trace), seconds, planned, tuple(found.notes))
