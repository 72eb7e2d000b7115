"""`coarsen bench`: measures and verifies kernels over a space of configurations, or writes a pack that does."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from coarsen.cli.bench.options import CodeForm, bench_search, check_export, device_kind
from coarsen.cli.declared import argument, option, takes
from coarsen.cli.messages import INTERRUPTED, note, say, say_interrupted
from coarsen.cli.options import format_option, seed_option
from coarsen.cli.output import Format, counted, print_line
from coarsen.cli.stores import check_packages, store_option
from coarsen.cli.variant_options import ARRAYS, SPACE_HELP, SpaceOptions, variant_options
from coarsen.errors import InvalidInputError, VerificationError
from coarsen.tuning.progress import Remeasure

if TYPE_CHECKING:
    from coarsen.opencl_bench.sweep.pack.writing import PackSummary
    from coarsen.opencl_bench.sweep.search_sweep import SearchRequest
    from coarsen.opencl_bench.sweep.several import SweepResult
    from coarsen.tuning.engine.plan import SweepPlan
    from coarsen.tuning.records.code import Form
    from coarsen.tuning.records.measurement import Method

NAMED_WRONG_RESULTS = 5
GRID_COMPILE_SECONDS = 20.0
USUAL_PRESET, PACKED_PRESET = "cpu", "gpu"


@dataclass(frozen=True, kw_only=True)
class BenchOptions:
    """The options of `coarsen bench`."""

    chosen: Mapping[str, Any] = variant_options(*ARRAYS)
    kernels: list[str] | None = argument(
        "Names of the suite, or files: KERNEL.toml, KERNEL.cl beside it, or NAME.npz (run --record); seventeen "
        "(the paper's), records or judge for all of a suite.  [default: seventeen]",
        "KERNEL",
        default=None,
    )
    device: list[str] | None = option(
        "An index (0:1) or any part of the name; for --pack, cpu or gpu. May be repeated.  "
        "[default: the first that works]",
        "NAME",
        "-d --device",
    )
    preset: str | None = option("The sizes: test, cpu, gpu, paper.  [default: cpu, for --pack gpu]", "NAME")
    seed: int = seed_option()
    space: list[str] | None = option(SPACE_HELP, "NAME=VALUE,...")
    define: list[str] | None = option(
        "Values to try of a macro. May be repeated.", "NAME=VALUE,...", "-D --define"
    )
    search: str | None = option(
        "Search the space instead of measuring it all: guided, staircase, random, exhaustive.", "NAME"
    )
    budget: str | None = option(
        "With --search: how many configurations it may try, failures too, which share of the space, or for "
        "how long.  [default: until it ends by itself]",
        "NUMBER|SHARE%|SECONDSs",
    )
    form: list[CodeForm] | None = option(
        "What a device is given; several for --pack.  [default: opencl_c]", "opencl_c|spirv"
    )
    quick: bool = option("Few runs, wide intervals: a first look.", default=False)
    no_confirmation: bool = option("Don't time the best configurations once more in new processes.", default=False)
    caches: Literal["warm", "cold"] = option("cold flushes the caches before every timed run.", default="warm")
    store: str | None = store_option()
    again: Remeasure = option("Which stored rows to measure once more.", default=Remeasure.NOTHING)
    pack: Path | None = option(
        "Measure nothing: write a folder that a machine without coarsen's compilers measures, by "
        "python -m coarsen.opencl_bench.run_pack FOLDER.",
        "FOLDER",
    )
    output: Path | None = option("Write the rows there too: .parquet, .jsonl or .csv.", "FILE", "-o --output")
    output_format: Format = format_option()

    @property
    def forms(self) -> tuple[Form, ...]:
        """Return what devices are given."""
        return tuple(each.value for each in self.form or [CodeForm.OPENCL_C])

    def method(self, wanted: SpaceOptions) -> Method:
        """Return how each configuration of a space is measured."""
        from coarsen.tuning.records.measurement import QUICK, Method

        usual = QUICK if self.quick else Method()
        # None of so many rows as a grid has is worth minutes of a compiler's time.
        most = GRID_COMPILE_SECONDS if wanted.is_grid else usual.compile_seconds
        seconds = min(usual.compile_seconds, most)
        return replace(usual, cold_cache=self.caches == "cold", compile_seconds=seconds)


@takes(BenchOptions)
def bench(asked: BenchOptions) -> None:
    """Measure kernels coarsened in every way, and verify them.

    Every configuration of the space is compared with the best uncoarsened one, and becomes a row of the store,
    however it ends. Rows that are there already are not measured again: the same command goes on where it was
    interrupted. With --search, the configurations that a search asks for instead of every one. Several values
    of --layout, --place and the like are tried beside the array as written. Exit code 5 if any result was wrong.

    With --pack nothing is measured: the folder holds the code of every configuration; inputs are made there. That
    machine needs Python, NumPy, PyOpenCL and coarsen, whose run_pack writes
    a file for `coarsen results import`.

    Example: coarsen bench sgemm mt -d pocl -d intel --quick

    Example: coarsen bench sgemm --space level=item,group --space wide-accesses=no,yes --space sample=200

    Example: coarsen bench sgemm --space level=item,group --space at-once=2 --search guided --budget 60

    Example: coarsen bench sgemm mt --device gpu --form opencl_c --form spirv --pack for_the_gpu
    """
    wanted = SpaceOptions.read(asked.space, asked.define, asked.chosen)
    if asked.pack is not None:
        given = [f"--{name}" for name in ("search", "store", "output") if getattr(asked, name)]
        if given:
            raise InvalidInputError(f"--pack measures nothing: leave out {' and '.join(given)}")
        _write_pack(asked, wanted, asked.pack)
        return
    if len(asked.forms) > 1:
        raise InvalidInputError("--form is given once; several are for --pack")
    check_packages(("sqlalchemy", "pandas"), "measuring")
    if asked.output is not None:
        check_export(asked.output)
    is_sample = "sample" in wanted.values
    search = bench_search(asked.search, asked.budget, asked.seed, is_sample=is_sample)
    results = _measure(asked, _planned(asked, wanted, search), search)
    if asked.output is not None:
        from coarsen.opencl_bench.results.exchange.files import write_results

        write_results([row for result in results for row in result.rows], asked.output)
    _end(results)


def _planned(asked: BenchOptions, wanted: SpaceOptions, search: SearchRequest | None) -> dict[SweepPlan, int]:
    """Plan a sweep of each kernel on each device, alike in all but these and their spaces, and count its rows."""
    from coarsen.cli.bench.inputs import benchmarks_of, places_of
    from coarsen.opencl_bench.sweep.several import planned_rows
    from coarsen.tuning.engine.plan import SweepPlan

    preset, form = asked.preset or USUAL_PRESET, asked.forms[0]
    usual = SweepPlan("", "", preset, asked.seed, method=asked.method(wanted), form=form)
    usual = replace(usual, confirms=not asked.no_confirmation)
    from coarsen.opencl_bench.sweep.search_sweep import planned_search_rows

    benchmarks = benchmarks_of(asked.kernels)
    places = places_of(asked.device, form)
    expected = {}
    for benchmark, name in benchmarks:
        for place in places:
            space = wanted.of(benchmark, preset, place.kind, place.limits)
            plan = replace(usual, benchmark=name, device=place.name, space=space)
            given = benchmark, plan, place.limits
            expected[plan] = planned_rows(*given) if search is None else planned_search_rows(*given, search)
    return expected


def _write_pack(asked: BenchOptions, wanted: SpaceOptions, folder: Path) -> None:
    """Write a folder that measures kernels on a machine without coarsen's compilers."""
    from coarsen.cli.bench.inputs import benchmarks_of
    from coarsen.opencl_bench.sweep.pack.writing import USUAL_LIMITS, PackPart, PackRequest, write_pack

    preset, kind = asked.preset or PACKED_PRESET, device_kind(asked.device)
    request = PackRequest(
        parts=tuple(
            PackPart(name, preset, wanted.of(benchmark, preset, kind, USUAL_LIMITS))
            for benchmark, name in benchmarks_of(asked.kernels)
        ),
        forms=asked.forms,
        seed=asked.seed,
        method=asked.method(wanted),
        device_kind=kind,
    )
    _say_packed(write_pack(request, folder, lambda line: note(f"compiling {line}")), folder)


def _say_packed(summary: PackSummary, folder: Path) -> None:
    for reason in summary.left_out:
        note(f"left out: {reason}")
    candidates = [candidate for sweep in summary.sweeps for candidate in sweep.candidates]
    failed = sum(bool(candidate.failure) for candidate in candidates)
    print_line(
        f"{folder}: {counted(len(summary.sweeps), 'sweep')}, {counted(len(candidates), 'configuration')} "
        f"({failed} of them not to be run), {counted(summary.codes, 'kernel')}, {summary.byte_count / 1e6:.1f} MB"
    )
    print_line(f"Run it there: python -m coarsen.opencl_bench.run_pack {folder.name}")


def _measure(
    asked: BenchOptions, expected: Mapping[SweepPlan, int], search: SearchRequest | None
) -> list[SweepResult]:
    """Do the sweeps and print the report; `expected` is the number of feasible rows of each."""
    from coarsen.cli.bench.report import print_report, print_report_as_json
    from coarsen.cli.progress import Tally, watching
    from coarsen.opencl_bench.sweep.several import sweep_all
    from coarsen.tuning.store.database import open_store

    start = time.perf_counter()
    with open_store(asked.store) as store:
        rows = counted(sum(expected.values()), "row")
        note(f"{rows} to measure in {counted(len(expected), 'sweep')}, those apart that the store has")
        try:
            with watching(Tally(expected)) as tally:
                results = sweep_all(expected, store, tally, asked.again, search)
        except KeyboardInterrupt:
            say_interrupted(tally.measured, store.location)
            raise typer.Exit(INTERRUPTED) from None
        show = print_report_as_json if asked.output_format is Format.JSON else print_report
        show(results, time.perf_counter() - start, store.location)
    return results


def _end(results: Sequence[SweepResult]) -> None:
    """Say what went wrong, and end with its exit code.

    Raises:
        VerificationError: a result was wrong.
        typer.Exit: something else went wrong.
    """
    sys.stdout.flush()
    problems = [result for result in results if result.problem]
    for result in problems:
        say("error", f"{result.benchmark} on {result.plan.device}: {result.problem}")
    wrong = [
        f"{result.benchmark} on {result.plan.device}: {row.candidate}"
        for result in results
        # What is wrong of a kernel that writes outside of its buffers is the kernel's fault, and said above.
        if result.exit_code != InvalidInputError.exit_code
        for row in result.wrong
    ]
    if wrong:
        if any(isinstance(result.plan.benchmark, Path) and result.wrong for result in results):
            note("a kernel that reads out of bounds has variants that are wrong: Oclgrind finds such reads")
        others = len(wrong) - NAMED_WRONG_RESULTS
        more = f"; and {others} more" if others > 0 else ""
        raise VerificationError(f"wrong results: {'; '.join(wrong[:NAMED_WRONG_RESULTS])}{more}")
    if problems:
        raise typer.Exit(problems[0].exit_code)
