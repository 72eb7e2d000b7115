"""Searches replayed on the measured spaces of layouts: how near to the best they come, at a twentieth of the runs.

python -m coarsen.opencl_bench.studies.layouts.searches STORE|FILE … [--kernels NAME …] [--seeds NUMBER]

quality    the best time of the space over that of what a search found, both by second times where there are any
share      of the variants that may run, how many it tried, failed ones too

Searches see first times alone. They start from the launch as it is, as live ones do, each with several seeds, of
which the median counts. Random search is computed exactly. Then: the paper's own search, of layouts alone at each
launch; and how well times add up, held out, for layouts at one launch and for launches at one layout.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coarsen.opencl_bench.search.additive import PAPER
from coarsen.opencl_bench.search.budget import Budget
from coarsen.opencl_bench.search.quality import random_quality
from coarsen.opencl_bench.search.replay_processes import as_they_end
from coarsen.opencl_bench.search.searchers import SEARCHERS
from coarsen.opencl_bench.search.tables import ReplayEvaluator, Table
from coarsen.opencl_bench.studies.input_rows import exit_code_of
from coarsen.opencl_bench.studies.input_tables import table as table_lines
from coarsen.opencl_bench.studies.layouts.law import law_over
from coarsen.opencl_bench.studies.layouts.spaces import SPACES, chosen_spaces
from coarsen.opencl_bench.studies.layouts.tables import slices, table_of_times, values_in, variants_by_values
from coarsen.opencl_bench.studies.layouts.times import SpaceTimes, all_times, geometric_mean, read_rows
from coarsen.processes import processors

SHARE = 0.05
SEEDS = 30
REPLAYED = ("additive", "additive-paper", "guided")
# Of the geometric mean over the spaces, and of each space; None where nothing is asked.
THRESHOLDS = {"additive": (0.95, 0.88), "guided": (0.97, None)}


@dataclass(frozen=True)
class Task:
    """One search of one space."""

    table: Table
    searcher: str
    seed: int
    share: float


@dataclass(frozen=True)
class Done:
    """The choice that a search found, by its values, and how many it tried; no choice where nothing could run."""

    values: tuple[tuple[str, object], ...] | None
    tried: int


@dataclass(frozen=True)
class SpaceResult:
    """The searches of one space on one device.

    Attributes:
        name: of the space.
        variants: how many may run, and how many of these failed.
        missing: how many were not measured.
        launched: the quality of the launch as it is.
        middle: that of the median variant.
        qualities: of each searcher, one for each seed.
        tried: how many variants each tried, the median over the seeds.
        random: the expected quality of random search at the budget.
    """

    name: str
    variants: int
    failed: int
    missing: int
    launched: float
    middle: float
    qualities: dict[str, list[float]]
    tried: dict[str, float]
    random: float


def search_once(task: Task) -> Done:
    """Search a table once."""
    evaluator = ReplayEvaluator(task.table)
    found = SEARCHERS[task.searcher].search(evaluator, Budget(share=task.share), task.seed)
    values = values_in(task.table, found.best.choice) if found.best is not None else None
    return Done(values, len(evaluator.trace))


def results_of(
    measured: Sequence[SpaceTimes], seeds: int = SEEDS, processes: int = 1, share: float = SHARE
) -> list[SpaceResult]:
    """Return the searches of several spaces of one device.

    Args:
        measured: the spaces.
        seeds: how many runs of each searcher.
        processes: how many searches run at once; the results are the same for any number.
        share: of a space that may be tried.

    Raises:
        InvalidInputError: nothing of a space ran.
    """
    tables = [table_of_times(times) for times in measured]
    tasks = [Task(table, name, seed, share) for table in tables for name in REPLAYED for seed in range(seeds)]
    done = dict(as_they_end(search_once, tasks, processes))
    by_table: dict[str, list[tuple[Task, Done]]] = {}
    for number, task in enumerate(tasks):
        by_table.setdefault(task.table.name, []).append((task, done[number]))
    return [
        _result(times, table, by_table[table.name], share) for times, table in zip(measured, tables, strict=True)
    ]


def _result(times: SpaceTimes, table: Table, runs: Sequence[tuple[Task, Done]], share: float) -> SpaceResult:
    variants = variants_by_values(times, table)
    judged = sorted(times.time(variant) for variant in times.first)
    best = times.best(times.first)
    assert best is not None
    optimum = times.time(best)
    qualities: dict[str, list[float]] = {name: [] for name in REPLAYED}
    tried: dict[str, list[int]] = {name: [] for name in REPLAYED}
    for task, done in runs:
        found = math.inf if done.values is None else times.time(variants[done.values])
        # The first time of another one may be shorter than the second time of the best.
        qualities[task.searcher].append(optimum / max(found, optimum))
        tried[task.searcher].append(done.tried)
    draws = max(1, math.floor(share * len(table.trials) + 1e-7))
    return SpaceResult(
        times.space.name,
        len(times.compared),
        len(times.compared) - len(times.first),
        len(times.missing),
        optimum / times.time(times.space.default),
        optimum / statistics.median(judged),
        qualities,
        {name: statistics.median(counts) for name, counts in tried.items()},
        min(1.0, random_quality([max(time, optimum) for time in judged], len(table.trials), draws).mean),
    )


def search_lines(results: Sequence[SpaceResult]) -> Iterator[str]:
    """Yield the table of the searches, and what the thresholds say of it."""
    head = ["space", "variants", "failed", "as launched", "median variant"]
    rows = [
        [
            each.name,
            f"{each.variants}" + (f" ({each.missing} missing)" if each.missing else ""),
            f"{each.failed}",
            f"{each.launched:.3f}",
            f"{each.middle:.3f}",
            *(_quality_cell(each, name) for name in REPLAYED),
            f"{each.random:.3f}",
        ]
        for each in results
    ]
    means = {name: geometric_mean([_median(each, name) for each in results]) for name in REPLAYED}
    others = [
        f"{geometric_mean([getattr(each, name) for each in results]):.3f}" for name in ("launched", "middle")
    ]
    random = f"{geometric_mean([each.random for each in results]):.3f}"
    rows.append(["geometric mean", "", "", *others, *(f"{means[name]:.3f}" for name in REPLAYED), random])
    yield from table_lines([*head, *REPLAYED, "random"], rows)
    yield ""
    for name, (least_mean, least_each) in THRESHOLDS.items():
        yield _verdict(f"{name}, geometric mean", means[name], least_mean)
        if least_each is not None:
            worst = min(results, key=lambda each: _median(each, name))
            yield _verdict(f"{name}, least ({worst.name})", _median(worst, name), least_each)


def _median(result: SpaceResult, searcher: str) -> float:
    # A search that found nothing has quality 0, of which there is no logarithm.
    return max(statistics.median(result.qualities[searcher]), 1e-9)


def _quality_cell(result: SpaceResult, searcher: str) -> str:
    qualities = sorted(result.qualities[searcher])
    least, most = qualities[len(qualities) // 4], qualities[(3 * len(qualities)) // 4]
    share = result.tried[searcher] / result.variants
    return f"{_median(result, searcher):.3f} ({least:.3f}–{most:.3f}) at {share:.1%}"


def _verdict(what: str, value: float, least: float) -> str:
    return f"- {what}: {value:.3f}, asked for ≥ {least}: {'yes' if value >= least else '**no**'}"


def layout_lines(measured: Sequence[SpaceTimes]) -> Iterator[str]:
    """Yield the tables of the paper's own search at each launch, and of how well times add up."""
    searches, laws = [], []
    for times in measured:
        table = table_of_times(times)
        at_launches = list(slices(table, lambda axis: not axis.shared))
        searches.append(_paper_row(times.space.name, at_launches))
        arrays, launches = law_over(at_launches), law_over(slices(table, lambda axis: axis.shared))
        laws.append([times.space.name, *("–" if law is None else str(law) for law in (arrays, launches))])
    yield ""
    yield "The paper's search of layouts alone, at each launch by itself:"
    yield ""
    head = ["space", "launches", "layouts", "runs", "quality: geometric mean", "least", "random, as many runs"]
    yield from table_lines(head, searches)
    yield ""
    yield "Predicted by addition from a base and its supports: R² held out, error (parts), medians over parts:"
    yield ""
    yield from table_lines(["space", "layouts at one launch", "launches at one layout"], laws)


def _paper_row(name: str, at_launches: Sequence[Table]) -> list[str]:
    qualities, runs, random, sizes = [], [], [], []
    for part in at_launches:
        evaluator = ReplayEvaluator(part)
        found = PAPER.search(evaluator, Budget(), 0)
        assert found.best is not None and found.best.time is not None
        qualities.append(part.optimum / found.best.time)
        runs.append(len(evaluator.trace))
        sizes.append(len(part.trials))
        random.append(random_quality(part.times, len(part.trials), len(evaluator.trace)).mean)
    counts = [f"{len(at_launches)}", f"{statistics.median(sizes):g}", f"{statistics.median(runs):g}"]
    numbers = [geometric_mean(qualities), min(qualities), geometric_mean([max(each, 1e-9) for each in random])]
    return [name, *counts, *(f"{number:.3f}" for number in numbers)]


def main(words: Sequence[str] | None = None) -> int:
    """Print the tables of each device."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("rows", nargs="+", metavar="STORE|FILE")
    parser.add_argument("--kernels", nargs="*", default=[], metavar="NAME", help="without records-; else all")
    parser.add_argument("--seeds", type=int, default=SEEDS, metavar="NUMBER", help=f"runs of each; {SEEDS}")
    parser.add_argument("--processes", type=int, default=processors(), metavar="NUMBER", help="so many at once")
    asked = parser.parse_args(words)
    names = asked.kernels or [name for name, space in SPACES.items() if space.is_searched]
    for device, measured in all_times(chosen_spaces(names), read_rows(asked.rows)).items():
        print(f"\n{device}\n")
        for line in search_lines(results_of(measured, asked.seeds, asked.processes)):
            print(line)
        for line in layout_lines(measured):
            print(line)
    return 0


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
