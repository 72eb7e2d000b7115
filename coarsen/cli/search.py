"""`coarsen search`: searchers judged on spaces of which everything was measured before."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import typer

from coarsen.cli.groups import Group
from coarsen.cli.messages import INTERRUPTED, note, say
from coarsen.cli.options import OutputFormat
from coarsen.cli.output import Format, print_json
from coarsen.cli.search_options import (
    BaseChoice,
    BenchmarkNames,
    BudgetText,
    DrawnFigure,
    FigureOutput,
    ProcessCount,
    ReplayedFiles,
    RowsInput,
    RowsOutput,
    SearcherNames,
    SeedCount,
    SharedParameters,
    SpaceFiles,
    StartsFrom,
    listed,
    parsed_budget,
)
from coarsen.errors import InvalidInputError

if TYPE_CHECKING:
    from coarsen.opencl_bench.search.budget import Budget
    from coarsen.opencl_bench.search.replay import Plan, Replay
    from coarsen.opencl_bench.search.tables import Table

NEEDED_PACKAGES = ("matplotlib", "pandas", "pyarrow", "threadpoolctl")


def replay(
    files: ReplayedFiles,
    spaces: SpaceFiles = None,
    shared: SharedParameters = "",
    benchmarks: BenchmarkNames = None,
    searchers: SearcherNames = "additive,guided,random",
    seeds: SeedCount = 30,
    budget: BudgetText = "5%",
    base: StartsFrom = BaseChoice.RANDOM,
    processes: ProcessCount = None,
    output: RowsOutput = None,
    figure: FigureOutput = None,
    output_format: OutputFormat = Format.TABLE,
) -> None:
    """Search spaces of which every time is known, and print how near to the optimum searchers come.

    Nothing is measured: times are looked up. Quality is the time of the optimum over the best found; its median
    over the runs is shown after several shares of a space. Every distinct configuration tried counts, those that
    failed too. Random search is not run: its quality is computed exactly. With --output each run is kept as soon
    as it has ended.

    Example: coarsen search replay A100_T4.json.gz --space T1.json --seeds 10 --figure quality.svg
    """
    _check_packages()
    _check_outputs(output, figure)
    from coarsen.cli.search_report import print_replay, replay_as_data
    from coarsen.opencl_bench.search.replay_files import write_rows
    from coarsen.opencl_bench.search.table_files import TableFiles, read_tables

    plan = _plan(listed(searchers), seeds, parsed_budget(budget), base)
    wanted = TableFiles(
        [Path(file) for file in files], tuple(spaces or ()), listed(shared), tuple(benchmarks or ())
    )
    tables = read_tables(wanted)
    done = _replayed(tables, plan, processes, output)
    if output_format is Format.JSON:
        print_json(replay_as_data(tables, done))
    else:
        print_replay(tables, done)
    if output is not None:
        write_rows(done.rows, output)
        note(f"written: {output}")
    if figure is not None:
        from coarsen.opencl_bench import plots

        plots.save(plots.draw_search(done.rows), figure)
        note(f"written: {figure}")


def draw(rows: RowsInput, output: DrawnFigure) -> None:
    """Draw the quality of searches against the share of the space that they tried.

    There is a panel for each space, and one of the geometric mean over several.

    Example: coarsen search draw rows.parquet -o quality.svg
    """
    _check_packages()
    _check_outputs(None, output)
    from coarsen.opencl_bench import plots
    from coarsen.opencl_bench.search.replay_files import read_rows

    plots.save(plots.draw_search(read_rows(rows)), output)
    note(f"written: {output}")


search = Group(
    "Judge searchers on spaces that were measured as a whole.",
    MappingProxyType({"replay": replay, "draw": draw}),
)


def _check_packages() -> None:
    if _is_missing(NEEDED_PACKAGES):
        raise InvalidInputError("replaying searches needs more packages: pip install 'coarsen[bench]'")


def _is_missing(packages: Iterable[str]) -> bool:
    return any(importlib.util.find_spec(package) is None for package in packages)


def _check_outputs(rows: Path | None, figure: Path | None) -> None:
    """Find out before anything is read. Raises InvalidInputError."""
    if rows is not None:
        from coarsen.opencl_bench.search.replay_files import check_rows_file

        check_rows_file(rows)
    if figure is not None:
        from coarsen.opencl_bench.reporting.figures.files import file_type

        file_type(figure)


def _replayed(tables: Sequence[Table], plan: Plan, processes: int | None, output: Path | None) -> Replay:
    """Do the runs that no earlier command with the same output has done. Raises typer.Exit when interrupted."""
    from coarsen.cli.search_progress import watching
    from coarsen.opencl_bench.search.replay import replay as replay_on
    from coarsen.opencl_bench.search.replay_journal import Journal
    from coarsen.processes import processors

    journal = None if output is None else Journal.beside(output)
    try:
        with watching() as progress:
            return replay_on(tables, plan, processes or processors(), journal, progress.update)
    except KeyboardInterrupt:
        if journal is None:
            raise
        say("interrupted", f"{progress.kept} are kept in {journal.path}; the same command goes on from there")
        raise typer.Exit(INTERRUPTED) from None


def _plan(searchers: tuple[str, ...], seeds: int, budget: Budget, base: BaseChoice) -> Plan:
    from coarsen.opencl_bench.search.replay import Plan

    return Plan(searchers, seeds, budget, "random" if base is BaseChoice.RANDOM else "default")
