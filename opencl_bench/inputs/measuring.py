"""Measures versions of a kernel at several inputs, which are presets of one benchmark.

inputs × versions ──▶ rows in the store, each a version against the default one at the same input

Code is compiled once for all inputs. A row that the store has already is not measured again, so that what was
killed goes on where it was.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from coarsen.devices.discovery import DeviceDescription
from coarsen.devices.selection import find_device
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.records.code import Form
from coarsen.opencl_bench.records.measurement import Measurement, Method
from coarsen.opencl_bench.results.store.database import Store
from coarsen.opencl_bench.sweep.compiler import CompilePool
from coarsen.opencl_bench.sweep.engine import Processes, compiler_of, context_of, name_of
from coarsen.opencl_bench.sweep.observer import CollectingObserver, Remeasure, SweepObserver
from coarsen.opencl_bench.sweep.plan import Point, Space, SweepPlan, limits_of, points
from coarsen.opencl_bench.sweep.row_measurer import SweepContext
from coarsen.opencl_bench.sweep.rows import measure_against_default
from coarsen.opencl_bench.workloads.benchmark import Benchmark
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.variant.variant import Variant


@dataclass(frozen=True, slots=True)
class VersionsPlan:
    """The measurement of versions of one benchmark on one device.

    Attributes:
        benchmark: a name, or the path of a TOML file.
        device: what a person calls it.
        presets: the inputs, in the order in which they are measured.
        versions: what is measured at each; the default is added where it isn't there.
        default: the version that others are compared with and timed against, of the source's own macros and local
            size.
        seed: of the contents.
        method: how it is measured.
        form: of the code.
    """

    benchmark: str | Path
    device: str
    presets: tuple[str, ...]
    versions: tuple[Variant, ...]
    default: Variant
    seed: int = 0
    method: Method = field(default_factory=Method)
    form: Form = "opencl_c"


@dataclass(frozen=True, slots=True)
class MeasuredVersions:
    """The rows of a plan.

    Attributes:
        rows: of all inputs, stored before or measured now.
        measured: the number of rows measured now.
        problems: by input, why its default version does not run; it has no other rows then.
        seconds: wall-clock time.
    """

    rows: tuple[Measurement, ...]
    measured: int
    problems: Mapping[str, str]
    seconds: float


def measure_versions(
    plan: VersionsPlan,
    store: Store,
    observer: SweepObserver | None = None,
    again: Remeasure = Remeasure.NOTHING,
    pool: CompilePool | None = None,
) -> MeasuredVersions:
    """Measure every version at every input that the store doesn't have yet.

    Args:
        plan: what to measure, where and how.
        store: where the rows go, one committed transaction each.
        observer: sees rows as they come.
        again: which stored rows are measured once more.
        pool: the processes that compile and measure; some of its own if None.

    Raises:
        InvalidInputError: no such benchmark or preset; a default version that is coarsened, or doesn't compile.
        DeviceError: no such device; it can't be opened (any more).
    """
    start = time.perf_counter()
    collector = CollectingObserver(observer or SweepObserver())
    problems = {}
    with opened_inputs(plan, store, pool) as inputs:
        for preset in dict.fromkeys(plan.presets):
            with inputs.context(preset, collector, again) as context:
                problem = measure_against_default(context, inputs.points(preset))
            if problem:
                problems[preset] = problem
    return MeasuredVersions(tuple(collector.rows), collector.measured, problems, time.perf_counter() - start)


class OpenedInputs:
    """The inputs of a plan, measured one after the other with the same processes; made by `opened_inputs`.

    Args:
        plan: what to measure, where and how.
        benchmark: what it names.
        device: the same.
        store: where the rows go.
        processes: what compiles and measures.
    """

    def __init__(
        self,
        plan: VersionsPlan,
        benchmark: Benchmark,
        device: DeviceDescription,
        store: Store,
        processes: Processes,
    ) -> None:
        self._plan = plan
        self._benchmark = benchmark
        self._device = device
        self._store = store
        self._processes = processes

    @contextmanager
    def context(
        self, preset: str, observer: SweepObserver, again: Remeasure = Remeasure.NOTHING
    ) -> Iterator[SweepContext]:
        """Open what an input is measured with, one at a time: by the default version, or a search.

        Args:
            preset: the input.
            observer: sees rows as they come.
            again: which stored rows are measured once more.
        """
        plan = sweep_plan(self._plan, preset)
        where = self._benchmark, self._device, self._store, self._processes
        with context_of(plan, *where, self._plan.default) as context:
            yield replace(context, observer=observer, again=again)

    def points(self, preset: str) -> list[Point]:
        """Return the versions, each with why it can't run at an input."""
        versions = Space(variants=tuple(dict.fromkeys(self._plan.versions)))
        return points(self._benchmark, preset, versions, limits_of(self._device))


def sweep_plan(plan: VersionsPlan, preset: str) -> SweepPlan:
    """Return the plan of a sweep at one input, but for its space."""
    return SweepPlan(plan.benchmark, plan.device, preset, plan.seed, method=plan.method, form=plan.form)


@contextmanager
def opened_inputs(plan: VersionsPlan, store: Store, pool: CompilePool | None = None) -> Iterator[OpenedInputs]:
    """Open what all inputs of a plan are measured with, and close it in the end.

    Args:
        plan: what to measure, where and how.
        store: where the rows go.
        pool: the processes that compile and measure; some of its own if None.

    Raises:
        InvalidInputError, DeviceError: as `measure_versions` does.
    """
    if plan.default.is_coarsened:
        raise InvalidInputError(f"the default version is the source as it is, not {plan.default}")
    first = sweep_plan(plan, "")
    benchmark, device = find_benchmark(name_of(first)), find_device(plan.device)
    for preset in plan.presets:
        benchmark.preset(preset)
    with (
        CompilePool() if pool is None else nullcontext(pool) as processes,
        compiler_of(first, device, processes) as compiler,
    ):
        yield OpenedInputs(plan, benchmark, device, store, Processes(processes, compiler))
