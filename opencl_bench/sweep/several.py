"""Sweeps: of a benchmark on a device every configuration, or what a search asks for, becomes a row of the store.

A row that the store has already is not measured again, so a sweep that was killed goes on where it was. Of several
sweeps, one that fails is reported and does not end the others.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from coarsen.devices.selection import find_device, find_working_device
from coarsen.errors import DeviceError, InvalidInputError, VerificationError
from coarsen.opencl_bench.results.results import Results
from coarsen.opencl_bench.sweep.engine import explained, name_of, opened_context
from coarsen.opencl_bench.sweep.search_sweep import SearchRequest, search_points, search_space
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.tuning.engine.observer import (
    CollectingObserver,
    Searched,
    SweepObserver,
    exit_code_without_baseline,
    problem_of,
)
from coarsen.tuning.engine.plan import DeviceLimits, Space, SweepPlan, limits_of, points
from coarsen.tuning.engine.rows import measure_points, most_rows
from coarsen.tuning.processes.compiler import CompilePool
from coarsen.tuning.progress import Remeasure
from coarsen.tuning.records.measurement import Invalidity, Measurement, Method
from coarsen.tuning.store.database import Store, open_store
from coarsen.tuning.workload.benchmark import Benchmark
from coarsen.tuning.workload.launch_list import LAUNCH_SUFFIXES
from coarsen.variant.transforms import device_kind_of


@dataclass(frozen=True, slots=True)
class SweepResult:
    """The outcome of one plan.

    `rows` are all of the sweep's rows, `measured` the keys of those that were measured now (what breaks a
    constraint isn't). `device` is the device in full, as it was named where it wasn't found. `problem` says in one
    line why the sweep is incomplete or has no speed-ups, empty where there is none; `exit_code` is the problem's.
    `searched` is what a search found; None of a sweep of the whole space.
    """

    plan: SweepPlan
    benchmark: str
    device: str
    rows: tuple[Measurement, ...] = ()
    measured: frozenset[str] = field(default_factory=frozenset)
    seconds: float = 0.0
    problem: str = ""
    exit_code: int = 0
    searched: Searched | None = None

    @property
    def feasible_rows(self) -> list[Measurement]:
        """The rows that no constraint rules out."""
        return [row for row in self.rows if row.invalidity is not Invalidity.CONSTRAINTS]

    @property
    def measured_rows(self) -> list[Measurement]:
        """The rows that were measured now."""
        return [row for row in self.rows if row.key in self.measured]

    @property
    def wrong(self) -> list[Measurement]:
        """The rows whose results were wrong."""
        return [row for row in self.rows if row.invalidity is Invalidity.CORRECTNESS]


class SweepsObserver(SweepObserver):
    """Base class of observers of several sweeps; does nothing."""

    def finished(self, result: SweepResult) -> None:
        """Note that a sweep has ended, well or not."""


def sweep(
    plan: SweepPlan,
    store: Store,
    observer: SweepObserver | None = None,
    again: Remeasure = Remeasure.NOTHING,
    pool: CompilePool | None = None,
    request: SearchRequest | None = None,
) -> SweepResult:
    """Measure every configuration of a benchmark that the store doesn't have yet, or search among them.

    Args:
        plan: what to measure, where and how; a space that is searched is not sampled.
        store: where the rows go, one committed transaction each.
        observer: sees trials and rows as they come.
        again: which stored rows are measured once more.
        pool: the processes that compile; some of its own if None.
        request: how to search; None for every configuration.

    Returns:
        the sweep's rows and counts, and what a search found.

    Raises:
        InvalidInputError: no such benchmark or preset, a kernel that doesn't compile, a space without points, a
            user's kernel that accesses memory out of bounds; a space that is sampled, a budget that can't be kept
            in this space, a missing package.
        RefusalError: the kernel can't be read at all.
        DeviceError: no such device; it can't be opened (any more).
    """
    recorder = observer if isinstance(observer, _Recorder) else _Recorder(observer or SweepObserver(), plan)
    benchmark = find_benchmark(name_of(plan))
    device = find_device(plan.device)
    limits, kind, searched = limits_of(device), device_kind_of(device.device_types), None
    # What is wrong with the space shows before anything is opened.
    space = search_space(benchmark, plan, limits, kind) if request else None
    every = points(benchmark, plan.preset, plan.space, limits, kind) if request is None else []
    with opened_context(plan, benchmark, device, store, recorder, again, pool) as context:
        if request is None or space is None:
            problem = measure_points(context, every)
        else:
            problem, searched = search_points(context, benchmark, space, request)
    if isinstance(plan.benchmark, Path):
        problem = explained(problem, benchmark, Path(name_of(plan)), recorder.rows)
    return recorder.result(problem, searched)


class _Recorder(CollectingObserver):
    """Keeps, beside the rows, what `SweepResult` says of a sweep, also of one that fails."""

    def __init__(self, onwards: SweepObserver, plan: SweepPlan) -> None:
        super().__init__(onwards)
        self._plan = plan
        self.benchmark = str(plan.benchmark)
        self.device = plan.device
        self.measured_keys: set[str] = set()
        self._start = time.perf_counter()

    def planned(self, benchmark: str, device: str, configurations: int) -> None:
        self.benchmark, self.device = benchmark, device
        super().planned(benchmark, device, configurations)

    def stored(self, measurement: Measurement, measured: bool) -> None:
        if measured and measurement.invalidity is not Invalidity.CONSTRAINTS:
            self.measured_keys.add(measurement.key)
        super().stored(measurement, measured)

    def result(self, problem: str, searched: Searched | None = None, exit_code: int | None = None) -> SweepResult:
        """Return what the sweep came to; where no baseline runs, the rows say with which exit code."""
        code = exit_code_without_baseline(self.rows) if problem else 0
        code, seconds = code if exit_code is None else exit_code, time.perf_counter() - self._start
        swept = self._plan, self.benchmark, self.device, tuple(self.rows), frozenset(self.measured_keys)
        return SweepResult(*swept, seconds, problem, code, searched)


def sweep_all(
    plans: Iterable[SweepPlan],
    store: Store,
    observer: SweepsObserver,
    again: Remeasure = Remeasure.NOTHING,
    request: SearchRequest | None = None,
) -> list[SweepResult]:
    """Sweep each plan; what each came to, in their order.

    Args:
        plans: what is measured.
        store: where the rows go.
        observer: sees rows and results as they come.
        again: which stored rows are measured once more.
        request: how each plan's space is searched; the whole space is measured if None.

    Raises:
        InvalidInputError: the store has failed, so nothing would be kept.
    """
    results = []
    with CompilePool() as pool:
        for plan in plans:
            result = sweep_one(plan, store, observer, again, pool, request)
            observer.finished(result)
            results.append(result)
    return results


def sweep_one(
    plan: SweepPlan,
    store: Store,
    observer: SweepObserver,
    again: Remeasure = Remeasure.NOTHING,
    pool: CompilePool | None = None,
    request: SearchRequest | None = None,
) -> SweepResult:
    """Sweep a plan, with processes that compile or some of its own; whatever goes wrong is the result's problem.

    With a request, its space is searched.

    Raises:
        InvalidInputError: the store has failed.
    """
    recorder = _Recorder(observer, plan)
    try:
        return sweep(plan, store, recorder, again, pool, request)
    except Exception as error:  # a bug, too, must not end the other sweeps
        store.find("")  # a store that has failed ends them
        problem, exit_code = problem_of(error)
        return recorder.result(problem, exit_code=exit_code)


def planned_rows(benchmark: Benchmark, plan: SweepPlan, limits: DeviceLimits) -> int:
    """Return how many feasible rows a sweep will have at most: what fails is not confirmed.

    Raises:
        InvalidInputError: as `points` does.
    """
    space = points(benchmark, plan.preset, plan.space, limits)
    feasible = [point for point in space if point.violation is None]
    selected = [point for point in feasible if point.candidate.is_original]
    confirmed = most_rows(len(feasible) - len(selected), len(selected)) if plan.confirms else 0
    return len(selected) + len(feasible) + confirmed


# Measuring kernels from Python: what `coarsen bench` does, without its command line.
#
# kernels, a device, a space ─▶ sweeps ─▶ rows in a store ─▶ Results

_ERRORS = {error.exit_code: error for error in (DeviceError, InvalidInputError, VerificationError)}


def measure_kernels(
    kernels: str | Path | Iterable[str | Path],
    device: str | None = None,
    *,
    preset: str = "cpu",
    space: Space | None = None,
    method: Method | None = None,
    store: str | Path | None = None,
    confirms: bool = True,
    observer: SweepsObserver | None = None,
) -> Results:
    """Measure kernels on a device: every configuration of a space, verified, against the best uncoarsened one.

    Each is compiled and run in processes that may crash or hang without harm. A configuration that fails is a row
    with its reason. Where one of several kernels can't be measured at all, its error is raised
    when the others are done; only a `store` keeps their rows then.

    Args:
        kernels: names of the suite, `launch-0-NUMBER`, or paths of TOML files that
            describe kernels (`coarsen describe` writes one); one or several.
        device: its index or a part of its name; the first that works if None.
        preset: the sizes of the inputs.
        space: factors, strides, dimensions and local sizes (in work-items); those that `coarsen bench` tries if
            None.
        method: how to time; as `coarsen bench` does if None.
        store: an SQLite file or URL that keeps the rows: what it has already is not measured again. None: the
            rows are kept in what is returned alone.
        confirms: whether the best configurations are timed once more, in several new processes.
        observer: is told of the progress.

    Returns:
        All rows of these sweeps, also those that the store had already.

    Raises:
        DeviceError: no such device, or it can't run an uncoarsened kernel.
        InvalidInputError: no kernel, no such kernel or preset, a mistake in a description, a space that isn't one.
        VerificationError: an uncoarsened kernel's results are wrong.
    """
    place = find_working_device() if device is None else find_device(device)
    names = _names(kernels)
    # All of them before anything is measured: a mistake in the last one shows at once.
    for name in names:
        find_benchmark(name).preset(preset)
    plans = [
        SweepPlan(name, place.index, preset, space=space or Space(), method=method or Method(), confirms=confirms)
        for name in dict.fromkeys(names)
    ]
    with tempfile.TemporaryDirectory(prefix="coarsen-") as folder:
        url = str(Path(folder) / "store.sqlite") if store is None else str(store)
        with open_store(url) as opened:
            results = sweep_all(plans, opened, observer or SweepsObserver())
            where = "what was measured" if store is None else opened.location
    _check(results)
    return Results(tuple(row for result in results for row in result.rows), where)


def _names(kernels: str | Path | Iterable[str | Path]) -> list[str | Path]:
    given = [kernels] if isinstance(kernels, str | Path) else list(kernels)
    if not given:
        raise InvalidInputError("there is no kernel to measure")
    # The measuring processes may be started in another folder.
    return [Path(name).resolve() if str(name).endswith(LAUNCH_SUFFIXES) else name for name in given]


def _check(results: Iterable[SweepResult]) -> None:
    """Raise the error of the first sweep that has no speed-ups."""
    for result in results:
        if result.problem:
            error = _ERRORS.get(result.exit_code, InvalidInputError)
            raise error(f"{result.benchmark} on {result.device}: {result.problem}")
