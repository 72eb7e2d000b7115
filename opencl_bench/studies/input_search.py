"""Criterion 10: searches replayed on the stored grids of kernels that adapt, input by input.

python -m coarsen.opencl_bench.studies.input_search STORE … [--kernels NAME …] [--inputs NUMBER]

quality    the best time of the grid over the best time that a search has found, by the same stored times
share      of the grid's valid versions, how many it tried

A warm search starts from what was best on the nearest inputs that were searched before, as the first stage of
tuning does; all its runs are counted, those of the start too. Grids of fewer than 64 versions are left out.
Intervals are 95 %, by bootstrap over inputs, those of a group together; a search that draws has several seeds,
whose logarithms are averaged first.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from coarsen.models.evaluation.bootstrap import mean_interval
from coarsen.models.inputs.scores import Score
from coarsen.models.inputs.times import VersionTimes
from coarsen.opencl_bench.inputs.stage_one import StageOneSettings, spread
from coarsen.opencl_bench.inputs.stage_one_replay import ReplayedStageOne, grid_tables
from coarsen.opencl_bench.search.found import Found
from coarsen.opencl_bench.search.guided import GuidedSearcher
from coarsen.opencl_bench.search.searcher import Searcher
from coarsen.opencl_bench.search.staircase import StaircaseSearcher
from coarsen.opencl_bench.search.tables import Table
from coarsen.opencl_bench.studies.input_command import stores_parser
from coarsen.opencl_bench.studies.input_rows import exit_code_of, stored_kernels
from coarsen.opencl_bench.studies.input_tables import scored, table

LEAST_VERSIONS = 64
# Quality and share of the runs: what must be reached, and what is aimed at.
MUST, AIM = (0.97, 0.30), (0.98, 0.15)
SEEDS = (0, 1, 2)
ALL = "all kernels"


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


# The first is the paper's search, the second that of the first stage of tuning, which the criterion is for.
ENTRIES = (
    Entry(StaircaseSearcher(), None),
    Entry(GuidedSearcher(), MUST[1], SEEDS, is_warm=True),
    Entry(GuidedSearcher(), AIM[1], SEEDS, is_warm=True),
    Entry(GuidedSearcher(), MUST[1], SEEDS),
)


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
    kernel: str, times: VersionTimes, entries: Iterable[Entry] = ENTRIES, inputs: int | None = None
) -> Iterator[Searched]:
    """Yield the searches of one kernel's grid; none where it is too small.

    Args:
        kernel: its name.
        times: the whole grid.
        entries: what searches.
        inputs: on how many of them, those that fill the space of features best; all if None.
    """
    if len(times.versions) < LEAST_VERSIONS:
        return
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


def lines(found: Sequence[Searched]) -> Iterator[str]:
    """Yield the table: each kernel, then all together, with what the criterion says of each."""
    names = list(dict.fromkeys(each.entry for each in found))
    kernels = list(dict.fromkeys(each.kernel for each in found))
    groups = [(kernel, [each for each in found if each.kernel == kernel]) for kernel in kernels]
    rows = (
        [kernel, name, scored(quality_of(own)), f"{_share(own):.1%}", _verdict(own)]
        for kernel, group in [*groups, (ALL, list(found))]
        for name in names
        if (own := [each for each in group if each.entry == name])
    )
    yield from table(["kernel", "search", "quality", "of the versions tried", "criterion 10"], rows)


def _share(found: Sequence[Searched]) -> float:
    return float(np.mean([share for each in found for share in each.share]))


def _verdict(found: Sequence[Searched]) -> str:
    quality, share = quality_of(found).value, _share(found)
    if quality >= AIM[0] and share <= AIM[1]:
        return "better"
    return "yes" if quality >= MUST[0] and share <= MUST[1] else "no"


def main(words: Sequence[str] | None = None) -> int:
    """Print a table for each device of some stores."""
    parser = stores_parser(__doc__)
    parser.add_argument("--inputs", type=int, metavar="NUMBER", help="on so many inputs of each; else on all")
    asked = parser.parse_args(words)
    by_device: dict[str, list[Searched]] = {}
    for stored in stored_kernels(asked.stores, asked.kernels):
        if not stored.complete:
            print(f"{stored.kernel.name} on {stored.device}: no input has all rows", file=sys.stderr)
            continue
        found = searched(stored.kernel.name, stored.times, inputs=asked.inputs)
        by_device.setdefault(stored.device, []).extend(found)
    for device, found_there in by_device.items():
        print(f"\n{device}\n")
        print("\n".join(lines(found_there)))
    return 0 if any(by_device.values()) else 1


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
