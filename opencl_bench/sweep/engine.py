"""What a benchmark is measured with on a device: processes that compile, and one that measures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import InvalidInputError
from coarsen.tuning.engine.observer import SweepObserver
from coarsen.tuning.engine.plan import SweepPlan
from coarsen.tuning.engine.row_measurer import SweepContext, context_with
from coarsen.tuning.measure.session import WROTE_OUTSIDE
from coarsen.tuning.processes.child_process import DIED
from coarsen.tuning.processes.compiler import CompilePool, Compiler
from coarsen.tuning.processes.measuring_process import SERVICE, MeasuringProcess, machine_to_json
from coarsen.tuning.progress import Remeasure
from coarsen.tuning.records.measurement import Measurement
from coarsen.tuning.workload.benchmark import Benchmark
from coarsen.variant.variant import Variant

if TYPE_CHECKING:
    from coarsen.tuning.store.database import Store


@contextmanager
def opened_context(
    plan: SweepPlan,
    benchmark: Benchmark,
    device: DeviceDescription,
    store: Store,
    observer: SweepObserver,
    again: Remeasure,
    pool: CompilePool | None,
    default: Variant | None = None,
    compiler: Compiler | None = None,
) -> Iterator[SweepContext]:
    """Open what a plan is measured with, and close it in the end.

    Args:
        plan: what to measure, where and how.
        benchmark: what it names.
        device: the same.
        store: where the rows go.
        observer: sees rows as they come.
        again: which stored rows are measured once more.
        pool: the processes that compile; some of its own if None.
        default: the version that others are compared with; None for the fastest uncoarsened one.
        compiler: of the benchmark, for several presets; one of its own if None.
    """
    with (
        CompilePool() if pool is None else nullcontext(pool) as processes,
        compiler_of(plan, device, processes) if compiler is None else nullcontext(compiler) as codes,
        process_of(plan, benchmark, device, processes, default) as process,
    ):
        context = context_with(plan, benchmark, device, store, codes, process)
        yield replace(context, observer=observer, again=again, default=default)


def process_of(
    plan: SweepPlan,
    benchmark: Benchmark,
    device: DeviceDescription,
    pool: CompilePool,
    default: Variant | None = None,
) -> MeasuringProcess:
    """Return what one preset is measured in; it is closed as a context manager.

    Args:
        plan: what to measure, where and how.
        benchmark: what it names.
        device: the same.
        pool: has the process, which other presets and benchmarks use as well.
        default: the version whose results others are compared with.
    """
    return MeasuringProcess(
        name_of(plan),
        plan.preset,
        plan.seed,
        machine_to_json(device),
        plan.method,
        benchmark.content_hash(plan.preset),
        shared_local_size=benchmark.shared_local_size,
        default=default,
        child=pool.measuring(SERVICE, device.index),
    )


def compiler_of(plan: SweepPlan, device: DeviceDescription, pool: CompilePool) -> Compiler:
    """Return the compiler of a plan's benchmark, for all presets; it is closed as a context manager."""
    return Compiler(name_of(plan), plan.form, machine_to_json(device), plan.method, pool)


def name_of(plan: SweepPlan) -> str:
    """Return the benchmark as a child process finds it, whose folder is another."""
    return str(plan.benchmark.resolve()) if isinstance(plan.benchmark, Path) else plan.benchmark


def explained(problem: str, benchmark: Benchmark, path: Path, rows: Sequence[Measurement]) -> str:
    """Return why a described kernel has no result, with what to look at in its description where it crashes.

    Args:
        problem: why no uncoarsened configuration runs; empty where one does.
        benchmark: what the file describes.
        path: the TOML file.
        rows: of the sweep.

    Raises:
        InvalidInputError: the uncoarsened kernel writes outside of a buffer.
    """
    if WROTE_OUTSIDE in problem:
        raise InvalidInputError(f"{path}: the uncoarsened kernel {problem}: give it more `elements`")
    failed = next((row.candidate for row in rows if DIED in row.reason), None)
    if DIED not in problem or failed is None:
        return problem
    # Imported late: a pack is run without a compiler.
    from coarsen.frontend.lower import lower
    from coarsen.tuning.processes.compile_service import build_options
    from coarsen.tuning.workload.argument_use import index_uses

    code = lower(benchmark.code, benchmark.kernel, build_options(benchmark, failed.definitions))
    names = ", ".join(name for name, use in index_uses(code).items() if use.addressed)
    hint = f"; check `elements` and `values` of the buffers that hold indices ({names}) in the TOML file"
    return f"the uncoarsened kernel crashes ({problem}){hint if names else ''}"
