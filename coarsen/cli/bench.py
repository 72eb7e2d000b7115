"""`coarsen bench`: measures and verifies benchmarks over factors, strides and local sizes."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from coarsen.cli.bench_options import (
    AgainChoice,
    AgainOption,
    CodeForm,
    ColdCache,
    Devices,
    Export,
    FormOption,
    FreeLaunch,
    Kernels,
    NoConfirmation,
    PresetName,
    Quick,
    Repetitions,
    Scheduler,
    Seed,
    Suite,
    Synthetic,
    SyntheticSeed,
    TimeoutMultiple,
    TlsCaFile,
    TlsCertificate,
    TlsKey,
    TrustNetwork,
    checked_export,
    method_of,
)
from coarsen.cli.bench_search import (
    BenchSearch,
    SearchBudget,
    SearchName,
    SearchOptions,
    SearchPrior,
    SearchSeed,
)
from coarsen.cli.messages import INTERRUPTED, note, say, say_interrupted
from coarsen.cli.options import OutputFormat, StoreUrl
from coarsen.cli.output import Format, counted
from coarsen.cli.space_options import (
    AnySize,
    ArrayLayouts,
    ArrayOptions,
    ArrayOrders,
    ArrayPads,
    ArrayPlaces,
    ArrayShapes,
    AtOnce,
    CleanUp,
    Dimensions,
    Distinct,
    Factors,
    FastPath,
    Levels,
    LocalSizes,
    LockStep,
    MostMerged,
    Sample,
    SampleSeed,
    SpaceOptions,
    Strides,
    TransformOptions,
    Tried,
    Values,
    WideAccesses,
)
from coarsen.errors import InvalidInputError, VerificationError
from coarsen.variant.coarsening import MOST_MERGED

if TYPE_CHECKING:
    from coarsen.cli.bench_progress import Tally
    from coarsen.opencl_bench.results.store.database import Store
    from coarsen.opencl_bench.sweep.plan import SweepPlan
    from coarsen.opencl_bench.sweep.several import SweepResult
    from coarsen.opencl_bench.workloads.benchmark import Benchmark

NAMED_WRONG_RESULTS = 5


@dataclass(frozen=True, slots=True)
class Cluster:
    """Options that describe a Dask scheduler; see `cluster_connection.Scheduler`, which needs Dask."""

    address: str
    ca_file: Path | None
    certificate: Path | None
    key: Path | None
    trusts_network: bool


@dataclass(frozen=True, slots=True)
class Job:
    """What one call of the command measures. `expected` is the number of feasible rows of each sweep."""

    expected: Mapping[SweepPlan, int]
    store_url: str | None
    again: AgainChoice
    cluster: Cluster | None
    search: BenchSearch | None = None


def bench(
    kernels: Kernels = None,
    suite: Suite = None,
    synthetic: Synthetic = None,
    synthetic_seed: SyntheticSeed = None,
    free_launch: FreeLaunch = None,
    device: Devices = None,
    preset: PresetName = "cpu",
    seed: Seed = 0,
    factors: Factors = None,
    strides: Strides = None,
    dims: Dimensions = None,
    local_sizes: LocalSizes = None,
    define: Values = None,
    levels: Levels = "item",
    at_once: AtOnce = 1,
    most_merged: MostMerged = MOST_MERGED,
    wide_accesses: WideAccesses = Tried.NO,
    fast_path: FastPath = "auto",
    lock_step: LockStep = "auto",
    clean_up: CleanUp = Tried.YES,
    any_size: AnySize = Tried.NO,
    layout: ArrayLayouts = None,
    order: ArrayOrders = None,
    array_place: ArrayPlaces = None,
    array_pad: ArrayPads = None,
    array_shape: ArrayShapes = None,
    distinct: Distinct = Tried.NO,
    sample: Sample = None,
    sample_seed: SampleSeed = 0,
    search: SearchName = None,
    budget: SearchBudget = None,
    search_seed: SearchSeed = None,
    prior: SearchPrior = None,
    form: FormOption = CodeForm.OPENCL_C,
    repetitions: Repetitions = None,
    quick: Quick = False,
    no_confirmation: NoConfirmation = False,
    cold_cache: ColdCache = False,
    timeout_multiple: TimeoutMultiple = None,
    store: StoreUrl = None,
    again: AgainOption = AgainChoice.NOTHING,
    scheduler: Scheduler = None,
    tls_ca_file: TlsCaFile = None,
    tls_cert: TlsCertificate = None,
    tls_key: TlsKey = None,
    trust_network: TrustNetwork = False,
    output: Export = None,
    output_format: OutputFormat = Format.TABLE,
) -> None:
    """Measure kernels on devices: every configuration of a space, verified, against the best uncoarsened one.

    With --search, the configurations that a search asks for instead of every one.

    Every configuration becomes a row of the store, however it ends. Rows that are there already are not
    measured again: the same command goes on where it was interrupted. Exit code 5 if any result was wrong.

    `coarsen bench init KERNEL.cl` writes KERNEL.toml, which describes a kernel of your own to this command;
    `coarsen bench pack` writes a folder to be measured on another machine. Both have a --help.

    Example: coarsen bench sgemm mt -d pocl -d intel --quick

    Example: coarsen bench sgemm --levels item,group --at-once 2 --wide-accesses both --sample 200

    Example: coarsen bench sgemm --levels item,group --at-once 2 --search guided --budget 60
    """
    _check_packages(scheduler)
    _check_store(scheduler, store)
    checked_export(output)
    from coarsen.cli.bench_inputs import (
        PlannedDevice,
        benchmarks_of,
        places_of,
        plans_of,
        refuse_misspelt_subcommand,
    )
    from coarsen.cli.main import SUBCOMMANDS
    from coarsen.opencl_bench.sweep.plan import SweepPlan
    from coarsen.opencl_bench.sweep.several import planned_rows

    searching = SearchOptions(search, budget, search_seed, prior).checked(seed, sample, scheduler)
    method = method_of(quick, repetitions, cold_cache, timeout_multiple)
    transforms = TransformOptions(fast_path, lock_step, wide_accesses, clean_up, any_size, distinct)
    wanted = SpaceOptions.parsed(
        factors,
        strides,
        dims,
        local_sizes,
        define,
        levels,
        at_once,
        most_merged,
        transforms,
        sample,
        sample_seed,
        ArrayOptions.given(layout, order, array_place, array_pad, array_shape),
    )
    refuse_misspelt_subcommand("bench", kernels, SUBCOMMANDS["bench"])
    benchmarks = benchmarks_of(kernels, synthetic, synthetic_seed, suite, free_launch)
    places = places_of(device, form.value, scheduler is not None)

    def plan_of(benchmark: Benchmark, name: str | Path, place: PlannedDevice) -> Iterator[SweepPlan]:
        space = wanted.of(benchmark, preset)
        yield SweepPlan(name, place.name, preset, seed, space, method, form.value, not no_confirmation)

    rows_of = planned_rows if searching is None else searching.rows_of
    expected = dict(plans_of(benchmarks, places, plan_of, rows_of))
    cluster = Cluster(scheduler, tls_ca_file, tls_cert, tls_key, trust_network) if scheduler else None
    results = _measure(Job(expected, store, again, cluster, searching), output_format)
    _export(results, output)
    _end(results)


def _check_store(scheduler: str | None, store_url: str | None) -> None:
    """Check that workers on other machines can reach the store. Raises InvalidInputError for an SQLite file."""
    if scheduler is None or not scheduler.startswith("tls://"):
        return
    from coarsen.opencl_bench.results.store.connection import store_url as parsed
    from coarsen.opencl_bench.results.store.place import SQLITE

    if parsed(store_url).drivername == SQLITE:
        raise InvalidInputError(
            "workers on other machines need a store that all reach, and this is an SQLite file: "
            "--store postgresql://…"
        )


def _check_packages(scheduler: str | None) -> None:
    if any(importlib.util.find_spec(package) is None for package in ("sqlalchemy", "pandas")):
        raise InvalidInputError("measuring needs more packages: pip install 'coarsen[bench]'")
    if scheduler is not None and importlib.util.find_spec("distributed") is None:
        raise InvalidInputError("--scheduler needs Dask: pip install 'coarsen[cluster]'")


def _measure(job: Job, output_format: Format) -> list[SweepResult]:
    """Do the sweeps and print the report."""
    from coarsen.cli.bench_report import print_report, print_report_as_json
    from coarsen.cli.bench_watch import watching
    from coarsen.opencl_bench.results.store.database import open_store

    start = time.perf_counter()
    with open_store(job.store_url) as store:
        rows = counted(sum(job.expected.values()), "row")
        note(f"{rows} to measure in {counted(len(job.expected), 'sweep')}, those apart that the store has")
        try:
            with watching(job.expected) as tally:
                results = _sweep(job, store, tally)
        except KeyboardInterrupt:
            say_interrupted(tally.measured, store.location)
            raise typer.Exit(INTERRUPTED) from None
        show = print_report_as_json if output_format is Format.JSON else print_report
        show(results, time.perf_counter() - start, store.location)
    return results


def _sweep(job: Job, store: Store, tally: Tally) -> list[SweepResult]:
    from coarsen.opencl_bench.sweep.observer import Remeasure
    from coarsen.opencl_bench.sweep.several import sweep_all

    again = Remeasure(job.again.value)
    if job.cluster is None:
        request_of = None if job.search is None else job.search.request_of
        return sweep_all(list(job.expected), store, tally, again, request_of)
    from coarsen.opencl_bench.sweep.cluster import Scheduler as DaskScheduler
    from coarsen.opencl_bench.sweep.cluster import sweep_on_cluster

    scheduler = DaskScheduler(**asdict(job.cluster))
    return sweep_on_cluster(list(job.expected), store, job.store_url, scheduler, tally, again)


def _export(results: Sequence[SweepResult], path: Path | None) -> None:
    """Write the rows of all sweeps to a file, in the format that its name says."""
    if path is None:
        return
    from coarsen.opencl_bench.results.exchange.files import write_results

    write_results([row for result in results for row in result.rows], path)


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
        # What is wrong of a kernel that accesses memory out of bounds is the kernel's fault, and said above.
        if result.exit_code != InvalidInputError.exit_code
        for row in result.wrong
    ]
    if wrong:
        others = len(wrong) - NAMED_WRONG_RESULTS
        more = f"; and {others} more" if others > 0 else ""
        raise VerificationError(f"wrong results: {'; '.join(wrong[:NAMED_WRONG_RESULTS])}{more}")
    if problems:
        raise typer.Exit(problems[0].exit_code)
