"""Replay of searches on tables, many times over, as a frame that figures and tables are made from.

tables × searchers × seeds ─▶ runs, each from a base of its own ─▶ a row for each trial

The columns of the rows:

- `space` and `choices`, how many valid ones it has, failed ones too;
- `searcher` and `seed`; random search has no seed (<NA>), for its rows are computed over all ways to draw;
- `tried`, how many distinct choices so far, failed ones too, and `share`, of `choices`;
- `planned`, how many bases and supports the additive searcher measures in this run (<NA> for other
  searchers);
- `time` of this trial, in the table's unit, NaN if it failed, and for random;
- `quality`, the optimum's time over the best so far; for random the median, with the quartiles `lower` and `upper`
  and the expectation `mean`, which are NaN for others;
- `seconds`, of all trials so far; for random the expectation.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import accumulate
from multiprocessing import get_context
from statistics import fmean
from types import MappingProxyType
from typing import Literal

import pandas as pd

from coarsen.errors import InternalError, InvalidInputError
from coarsen.near_names import did_you_mean
from coarsen.opencl_bench.search.additive import AdditiveSearcher
from coarsen.opencl_bench.search.additive_design import planned_choices
from coarsen.opencl_bench.search.budget import Budget
from coarsen.opencl_bench.search.compared import REPLAYED
from coarsen.opencl_bench.search.notes import merged
from coarsen.opencl_bench.search.quality import qualities, random_quality
from coarsen.opencl_bench.search.spaces import SearchSpace
from coarsen.opencl_bench.search.tables import ReplayEvaluator, Table, with_base

RANDOM = "random"
COLUMNS = (
    *("space", "choices", "searcher", "seed", "tried", "share", "planned"),
    *("time", "quality", "lower", "upper", "mean", "seconds"),
)
TYPES = MappingProxyType(
    {
        **dict.fromkeys(("space", "searcher"), "object"),
        **dict.fromkeys(("choices", "tried"), "int64"),
        **dict.fromkeys(("seed", "planned"), "Int64"),
        **dict.fromkeys(("share", "time", "quality", "lower", "upper", "mean", "seconds"), "float64"),
    }
)
_NO_SPREAD = (math.nan, math.nan, math.nan)
Base = Literal["random", "default"]
# A space, a searcher, and what it said of a run on it.
Note = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Plan:
    """Searchers, runs and budget to be replayed on each table.

    Attributes:
        searchers: by name. Random search is computed and not run.
        seeds: how many runs of each searcher; seeds are counted from 0.
        budget: of a run.
        base: what a run starts from: a valid choice that its seed draws, failed ones too, or the table's own.
    """

    searchers: tuple[str, ...]
    seeds: int
    budget: Budget
    base: Base = "random"

    def __post_init__(self) -> None:
        for name in self.searchers:
            if name not in REPLAYED:
                known = ", ".join(REPLAYED)
                raise InvalidInputError(
                    f"there is no searcher '{name}'{did_you_mean(name, REPLAYED)}; known: {known}"
                )
        if not self.searchers or len(set(self.searchers)) < len(self.searchers):
            raise InvalidInputError("name at least one searcher, and each of them once")
        if self.seeds < 1:
            raise InvalidInputError(f"the number of seeds must be at least 1, not {self.seeds}")


@dataclass(frozen=True, slots=True)
class Replay:
    """Rows and notes of a replay.

    Attributes:
        rows: one for each trial; see above.
        notes: what searchers said of their runs, and of how many; numbers are medians over the runs.
    """

    rows: pd.DataFrame
    notes: Mapping[Note, int]


@dataclass(frozen=True, slots=True)
class _Runs:
    """Some runs of a searcher on one table."""

    rows: list[tuple[object, ...]]
    notes: list[str]


def replay(tables: Sequence[Table], plan: Plan, processes: int = 1) -> Replay:
    """Search each table by each searcher with each seed.

    Args:
        tables: of different names.
        plan: what is replayed.
        processes: how many run at once; what is returned is the same for any number.

    Raises:
        InvalidInputError: two tables have one name, or a searcher lacks a package.
    """
    if len({table.name for table in tables}) < len(tables):
        raise InvalidInputError("two of the spaces have one name")
    tasks = [
        (table, searcher, seeds)
        for table in tables
        for searcher in plan.searchers
        for seeds in _shares(plan.seeds, 1 if searcher == RANDOM else processes)
    ]
    rows: list[tuple[object, ...]] = []
    notes: dict[tuple[str, str], list[str]] = {}
    for (table, searcher, _), runs in zip(tasks, _done(tasks, plan, processes), strict=True):
        rows += runs.rows
        notes.setdefault((table.name, searcher), []).extend(runs.notes)
    found = pd.DataFrame(rows, columns=list(COLUMNS)).astype(TYPES)
    said = {(*who, text): count for who, texts in notes.items() for text, count in merged(texts).items()}
    return Replay(found, MappingProxyType(said))


def planned_trials(searcher: AdditiveSearcher, space: SearchSpace, seed: int) -> int:
    """Return how many bases and supports a searcher measures before its checks, where its budget allows them."""
    draw = random.Random(seed)
    origin = searcher.origin(space, draw)
    if origin is None:
        return 0
    return len(planned_choices(space, searcher.combinations(space, origin, draw), searcher.relays))


def _shares(seeds: int, processes: int) -> list[tuple[int, ...]]:
    """Consecutive seeds for each process: what is done is then in their order."""
    size = math.ceil(seeds / processes)
    return [tuple(range(start, min(start + size, seeds))) for start in range(0, seeds, size)]


def _done(tasks: Sequence[tuple[Table, str, tuple[int, ...]]], plan: Plan, processes: int) -> Iterator[_Runs]:
    columns = ([plan] * len(tasks), *zip(*tasks, strict=True))
    if processes == 1:
        yield from map(_runs, *columns)
        return
    # Forked processes would inherit locked locks.
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        yield from pool.map(_runs, *columns)


def _runs(plan: Plan, table: Table, searcher: str, seeds: Sequence[int]) -> _Runs:
    if searcher == RANDOM:
        return _Runs(list(_random_rows(table, plan.budget)), [])
    done = [_run(plan, table, searcher, seed) for seed in seeds]
    return _Runs([row for run in done for row in run.rows], [note for run in done for note in run.notes])


def _run(plan: Plan, table: Table, searcher: str, seed: int) -> _Runs:
    if plan.base == "random":
        # Not the searcher's own stream of random numbers.
        table = with_base(table, random.Random(f"base {seed}").choice(table.space.ordered))
    evaluator = ReplayEvaluator(table)
    way = REPLAYED[searcher]
    found = way.search(evaluator, plan.budget, seed)
    trace = evaluator.trace
    most = plan.budget.most_trials(table.space)
    if most is not None and len(trace) > most:
        raise InternalError(f"{searcher} tried {len(trace)} configurations, {most} were allowed")
    planned = planned_trials(way, table.space, seed) if isinstance(way, AdditiveSearcher) else None
    seconds = accumulate(trial.seconds for trial in trace)
    every = zip(trace, qualities(trace, table.optimum), seconds, strict=True)
    rows = [
        (*_place(table, searcher, seed, tried), planned, trial.time, quality, *_NO_SPREAD, spent)
        for tried, (trial, quality, spent) in enumerate(every, 1)
    ]
    return _Runs(list(rows), list(found.notes))


def _random_rows(table: Table, budget: Budget) -> Iterator[tuple[object, ...]]:
    choices = len(table.trials)
    typical = fmean(trial.seconds for trial in table.trials.values())
    for tried in range(1, min(choices, budget.most_trials(table.space) or choices) + 1):
        quality = random_quality(table.times, choices, tried)
        spread = (quality.lower, quality.upper, quality.mean)
        yield *_place(table, RANDOM, None, tried), None, None, quality.median, *spread, tried * typical


def _place(table: Table, searcher: str, seed: int | None, tried: int) -> tuple[object, ...]:
    choices = len(table.trials)
    return table.name, choices, searcher, seed, tried, tried / choices
