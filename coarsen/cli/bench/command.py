"""`coarsen bench`: measures and verifies kernels over a space of configurations, or writes a pack that does."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from coarsen.cli.bench.options import (
    AgainChoice,
    AgainOption,
    BenchPreset,
    BenchSearch,
    Caches,
    CachesOption,
    CodeForm,
    Devices,
    Export,
    FormOption,
    Kernels,
    NoConfirmation,
    PackFolder,
    Quick,
    Scheduler,
    SearchBudget,
    SearchName,
    Seed,
    TlsFolder,
    bench_search,
    checked_export,
    device_kind,
    method_of,
)
from coarsen.cli.messages import INTERRUPTED, note, say, say_interrupted
from coarsen.cli.options import OutputFormat, StoreUrl
from coarsen.cli.output import Format, counted, print_line
from coarsen.cli.variant_options import ARRAYS, MacroValues, SpaceOptions, SpaceWords, variant_options
from coarsen.errors import InvalidInputError, VerificationError
from coarsen.variant.transforms import DeviceKind

if TYPE_CHECKING:
    from coarsen.cli.bench.progress import Tally
    from coarsen.opencl_bench.sweep.pack.writing import PackSummary
    from coarsen.opencl_bench.sweep.several import SweepResult
    from coarsen.tuning.engine.plan import SweepPlan
    from coarsen.tuning.records.measurement import Method
    from coarsen.tuning.store.database import Store
    from coarsen.tuning.workload.benchmark import Benchmark

NAMED_WRONG_RESULTS = 5
GRID_COMPILE_SECONDS = 20.0
USUAL_PRESET, PACKED_PRESET = "cpu", "gpu"


@dataclass(frozen=True, slots=True)
class Cluster:
    """A Dask scheduler, and the folder of the certificates that its TLS needs; see `cluster_connection`."""

    address: str
    tls: Path | None


@dataclass(frozen=True, slots=True)
class Job:
    """What one call of the command measures. `expected` is the number of feasible rows of each sweep."""

    expected: Mapping[SweepPlan, int]
    store_url: str | None
    again: AgainChoice
    cluster: Cluster | None
    search: BenchSearch | None = None


@variant_options(*ARRAYS)
def bench(
    chosen: Mapping[str, Any],
    kernels: Kernels = None,
    device: Devices = None,
    preset: BenchPreset = None,
    seed: Seed = 0,
    space: SpaceWords = None,
    define: MacroValues = None,
    search: SearchName = None,
    budget: SearchBudget = None,
    form: FormOption = None,
    quick: Quick = False,
    no_confirmation: NoConfirmation = False,
    caches: CachesOption = Caches.WARM,
    store: StoreUrl = None,
    again: AgainOption = AgainChoice.NOTHING,
    scheduler: Scheduler = None,
    tls: TlsFolder = None,
    pack: PackFolder = None,
    output: Export = None,
    output_format: OutputFormat = Format.TABLE,
) -> None:
    """Measure kernels coarsened in every way, and verify them.

    Every configuration of the space is compared with the best uncoarsened one, and becomes a row of the store,
    however it ends. Rows that are there already are not measured again: the same command goes on where it was
    interrupted. With --search, the configurations that a search asks for instead of every one. Several values
    of --layout, --place and the like are tried beside the array as written. Exit code 5 if any result was wrong.

    With --pack nothing is measured: the folder holds the code of every configuration; inputs are made there. That
    machine needs Python, NumPy, PyOpenCL (or cuda-bindings, for --form ptx) and coarsen, whose run_pack writes
    a file for `coarsen results import`.

    Example: coarsen bench sgemm mt -d pocl -d intel --quick

    Example: coarsen bench sgemm --space level=item,group --space wide-accesses=no,yes --space sample=200

    Example: coarsen bench sgemm --space level=item,group --space at-once=2 --search guided --budget 60

    Example: coarsen bench sgemm mt --device gpu --form opencl_c --form ptx --pack for_the_gpu
    """
    wanted = SpaceOptions.read(space, define, chosen)
    method, forms = method_of(quick, caches), tuple(form or [CodeForm.OPENCL_C])
    if wanted.is_grid:
        # None of so many rows is worth minutes of a compiler's time.
        method = replace(method, compile_seconds=min(method.compile_seconds, GRID_COMPILE_SECONDS))
    if pack is not None:
        given = {"--search": search, "--store": store, "--scheduler": scheduler}
        _refuse({**given, "--output": output}, "--pack measures nothing: leave out")
        _write_pack(kernels, preset or PACKED_PRESET, wanted, method, forms, device_kind(device), seed, pack)
        return
    if tls is not None and scheduler is None:
        raise InvalidInputError("--tls goes with --scheduler")
    if len(forms) > 1 or CodeForm.PTX in forms:
        raise InvalidInputError("--form is opencl_c or spirv, once; ptx and several are for --pack")
    _check_packages(scheduler)
    _check_store(scheduler, store)
    checked_export(output)
    searching = bench_search(search, budget, seed, scheduler, is_sample="sample" in wanted.values)
    cluster = Cluster(scheduler, _checked_tls(scheduler, tls)) if scheduler else None
    from coarsen.tuning.engine.plan import SweepPlan

    usual = SweepPlan("", "", preset or USUAL_PRESET, seed, method=method, form=forms[0].value)
    usual = replace(usual, confirms=not no_confirmation)
    expected = _planned(kernels, device, usual, wanted, searching, cluster)
    results = _measure(Job(expected, store, again, cluster, searching), output_format)
    _export(results, output)
    _end(results)


def _refuse(options: Mapping[str, object], why: str) -> None:
    given = [name for name, value in options.items() if value]
    if given:
        raise InvalidInputError(f"{why} {' and '.join(given)}")


def _checked_tls(address: str, folder: Path | None) -> Path | None:
    """Return the folder of certificates. Raises InvalidInputError where one is missing, or none is needed."""
    if folder is None:
        return None
    if not address.startswith(("tls://", "wss://")):
        raise InvalidInputError(f"--tls is for tls://, not {address}")
    for name in _CERTIFICATES.values():
        if not (folder / name).is_file():
            raise InvalidInputError(f"--tls {folder}: there is no {name} in it")
    return folder


_CERTIFICATES = {"ca_file": "ca.pem", "certificate": "cert.pem", "key": "key.pem"}


def _planned(
    kernels: Sequence[str] | None,
    device: Sequence[str] | None,
    usual: SweepPlan,
    wanted: SpaceOptions,
    searching: BenchSearch | None,
    cluster: Cluster | None,
) -> dict[SweepPlan, int]:
    """Plan a sweep of each kernel on each device, alike in all but these and their spaces, and count its rows."""
    from coarsen.cli.bench.inputs import PlannedDevice, benchmarks_of, places_of, plans_of
    from coarsen.opencl_bench.sweep.several import planned_rows

    def plan_of(benchmark: Benchmark, name: str | Path, place: PlannedDevice) -> SweepPlan:
        space = wanted.of(benchmark, usual.preset, place.kind, place.limits)
        return replace(usual, benchmark=name, device=place.name, space=space)

    benchmarks = benchmarks_of(kernels)
    places = places_of(device, usual.form, cluster is not None)
    rows_of = planned_rows if searching is None else searching.rows_of
    return dict(plans_of(benchmarks, places, plan_of, rows_of))


def _write_pack(
    kernels: Sequence[str] | None,
    preset: str,
    wanted: SpaceOptions,
    method: Method,
    forms: Sequence[CodeForm],
    kind: DeviceKind,
    seed: int,
    folder: Path,
) -> None:
    """Write a folder that measures kernels on a machine without coarsen's compilers."""
    from coarsen.cli.bench.inputs import benchmarks_of
    from coarsen.opencl_bench.sweep.pack.writing import USUAL_LIMITS, PackPart, PackRequest, write_pack

    request = PackRequest(
        parts=tuple(
            PackPart(name, preset, wanted.of(benchmark, preset, kind, USUAL_LIMITS))
            for benchmark, name in benchmarks_of(kernels)
        ),
        forms=tuple(each.value for each in forms),
        seed=seed,
        method=method,
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


def _check_store(scheduler: str | None, store_url: str | None) -> None:
    """Check that workers on other machines can reach the store. Raises InvalidInputError for an SQLite file."""
    if scheduler is None or not scheduler.startswith("tls://"):
        return
    from coarsen.tuning.store.connection import store_url as parsed
    from coarsen.tuning.store.place import SQLITE

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
    from coarsen.cli.bench.progress import watching
    from coarsen.cli.bench.report import print_report, print_report_as_json
    from coarsen.tuning.store.database import open_store

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
    from coarsen.opencl_bench.sweep.several import sweep_all
    from coarsen.tuning.engine.observer import Remeasure

    again = Remeasure(job.again.value)
    if job.cluster is None:
        request_of = None if job.search is None else job.search.request_of
        return sweep_all(list(job.expected), store, tally, again, request_of)
    from coarsen.opencl_bench.sweep.cluster import Scheduler as DaskScheduler
    from coarsen.opencl_bench.sweep.cluster import sweep_on_cluster

    folder = job.cluster.tls
    files = {} if folder is None else {name: folder / file for name, file in _CERTIFICATES.items()}
    scheduler = DaskScheduler(job.cluster.address, **files)
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
