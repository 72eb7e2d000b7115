"""Searches replayed on grids of stored times, input by input: how good they are, and how much they try.

quality    the best time of the grid over the best time that a search has found, by the same stored times
share      of the grid's valid versions, how many it tried
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from coarsen.models.evaluation.bootstrap import mean_interval
from coarsen.models.inputs.scores import Score
from coarsen.models.inputs.times import VersionTimes
from coarsen.opencl_bench.inputs.stage_one import StageOneSettings, spread
from coarsen.opencl_bench.inputs.stage_one_replay import ReplayedStageOne, grid_tables
from coarsen.opencl_bench.search.found import Found
from coarsen.opencl_bench.search.searcher import Searcher
from coarsen.opencl_bench.search.tables import Table


@dataclass(frozen=True, slots=True)
class Entry:
    """A search of each input of a kernel.

    Attributes:
        searcher: searches on each.
        share: of the versions that it may try; None: as many as it wants.
        seeds: of the searches.
        is_warm: whether it starts from what was best on the nearest inputs before.
    """

    searcher: Searcher
    share: float | None
    seeds: tuple[int, ...] = (0,)
    is_warm: bool = False

    @property
    def name(self) -> str:
        """Return what a table calls it."""
        name = f"{self.searcher.name}, warm" if self.is_warm else self.searcher.name
        return name if self.share is None else f"{name}, {self.share:.0%}"

    def settings(self, inputs: int, seed: int) -> StageOneSettings:
        """Return those of a first stage that searches as this entry does."""
        share = 1.0 if self.share is None else self.share
        return StageOneSettings(self.searcher, inputs, share, is_warm=self.is_warm, seed=seed)


@dataclass(frozen=True, slots=True)
class Searched:
    """The searches of one entry on the inputs of one kernel.

    Attributes:
        kernel: its name.
        entry: the name of the entry.
        groups: of the inputs, with the kernel's name, (n,).
        log_quality: mean over seeds, (n,).
        share: of the valid versions that were tried, mean over seeds, (n,).
    """

    kernel: str
    entry: str
    groups: tuple[str, ...]
    log_quality: tuple[float, ...]
    share: tuple[float, ...]


def searched(
    kernel: str, times: VersionTimes, entries: Iterable[Entry], inputs: int | None = None
) -> Iterator[Searched]:
    """Yield the searches of one kernel's grid, those of one entry after the other.

    Args:
        kernel: its name.
        times: the whole grid.
        entries: what searches.
        inputs: on how many of them, those that fill the space of features best; all if None.
    """
    count = len(times.inputs) if inputs is None else inputs
    rows = spread(times.inputs, count)
    tables = {
        times.inputs[row].name: table for row, table in zip(rows, grid_tables(times.of_inputs(rows)), strict=True)
    }
    groups = tuple(f"{kernel}/{times.inputs[row].group}" for row in rows)
    for entry in entries:
        runs = [_runs(times, tables, entry.settings(count, seed)) for seed in entry.seeds]
        qualities = tuple(
            float(np.mean([math.log(quality) for quality, _ in own])) for own in zip(*runs, strict=True)
        )
        shares = tuple(float(np.mean([share for _, share in own])) for own in zip(*runs, strict=True))
        yield Searched(kernel, entry.name, groups, qualities, shares)


def mean_share(found: Sequence[Searched]) -> float:
    """Return the share of the versions that were tried, the mean over the inputs of some kernels."""
    return float(np.mean([share for each in found for share in each.share]))


def _runs(
    times: VersionTimes, tables: Mapping[str, Table], settings: StageOneSettings
) -> list[tuple[float, float]]:
    """The quality and the share of a search on each input, in the order of the searches."""
    result = ReplayedStageOne(settings).run(times)
    names = (times.inputs[row].name for row in result.searched)
    return [_quality(tables[name], found) for name, found in zip(names, result.found, strict=True)]


def _quality(grid: Table, found: Found) -> tuple[float, float]:
    """The quality and the share of a search; one that found nothing counts as the slowest."""
    known = [trial.time for trial in grid.trials.values() if trial.time is not None]
    best = max(known) if found.best is None or found.best.time is None else found.best.time
    return min(known) / best, len(found.trace) / len(grid.space.ordered)


def quality_of(found: Sequence[Searched]) -> Score:
    """Return the geometric mean of the qualities over the inputs of some kernels."""
    logs = [log for each in found for log in each.log_quality]
    interval = mean_interval(logs, [group for each in found for group in each.groups])
    return Score(math.exp(sum(logs) / len(logs)), interval.exponential())
