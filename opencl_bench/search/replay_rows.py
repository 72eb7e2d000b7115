"""Rows of a replay, one for each trial.

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
from collections.abc import Iterator
from statistics import fmean
from types import MappingProxyType

from coarsen.opencl_bench.search.budget import Budget
from coarsen.opencl_bench.search.quality import qualities, random_quality
from coarsen.opencl_bench.search.replay_run import Run
from coarsen.opencl_bench.search.tables import Table

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


def run_rows(table: Table, searcher: str, seed: int, run: Run) -> Iterator[tuple[object, ...]]:
    """Enumerate the rows of a run of a searcher on a table."""
    every = zip(run.times, qualities(run.times, table.optimum), run.seconds, strict=True)
    for tried, (time, quality, spent) in enumerate(every, 1):
        yield *_place(table, searcher, seed, tried), run.planned, time, quality, *_NO_SPREAD, spent


def random_rows(table: Table, budget: Budget) -> Iterator[tuple[object, ...]]:
    """Enumerate the rows of random search, computed over all ways to draw."""
    choices = len(table.trials)
    typical = fmean(trial.seconds for trial in table.trials.values())
    for tried in range(1, min(choices, budget.most_trials(table.space) or choices) + 1):
        quality = random_quality(table.times, choices, tried)
        spread = (quality.lower, quality.upper, quality.mean)
        yield *_place(table, RANDOM, None, tried), None, None, quality.median, *spread, tried * typical


def _place(table: Table, searcher: str, seed: int | None, tried: int) -> tuple[object, ...]:
    choices = len(table.trials)
    return table.name, choices, searcher, seed, tried, tried / choices
