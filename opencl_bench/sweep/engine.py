"""The sweep of one benchmark on one device: every configuration becomes a row of the store, whatever happens.

    uncoarsened configurations ──▶ the best of them is the baseline
    every configuration        ──▶ verified, timed against the baseline ──▶ store
    the best of these          ──▶ confirmed in several new processes: the numbers that are reported

A row that the store has already is not measured again, so a sweep that was killed goes on where it was.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from coarsen.devices.discovery import DeviceDescription
from coarsen.devices.selection import find_device
from coarsen.opencl_bench.measure.environment import environment_of
from coarsen.opencl_bench.results.store.database import Store
from coarsen.opencl_bench.sweep.compiler import CompilePool, Compiler
from coarsen.opencl_bench.sweep.device_lock import device_lock
from coarsen.opencl_bench.sweep.measuring_process import SERVICE, MeasuringProcess, machine_to_json
from coarsen.opencl_bench.sweep.observer import CollectingObserver, Remeasure, SweepObserver, SweepSummary
from coarsen.opencl_bench.sweep.out_of_bounds import explained
from coarsen.opencl_bench.sweep.plan import SweepPlan
from coarsen.opencl_bench.sweep.points import limits_of, points
from coarsen.opencl_bench.sweep.rows import RowSweep
from coarsen.opencl_bench.sweep.subjects import CompiledSubjects
from coarsen.opencl_bench.sweep.sweep_context import SweepContext
from coarsen.opencl_bench.workloads.benchmark import Benchmark
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.variant.transforms import device_kind_of
from coarsen.variant.variant import Variant


def sweep(
    plan: SweepPlan,
    store: Store,
    observer: SweepObserver | None = None,
    again: Remeasure = Remeasure.NOTHING,
    pool: CompilePool | None = None,
) -> SweepSummary:
    """Measure every configuration of a benchmark that the store doesn't have yet.

    Args:
        plan: what to measure, where and how.
        store: where the rows go, one committed transaction each.
        observer: sees rows as they come.
        again: which stored rows are measured once more.
        pool: the processes that compile; some of its own if None.

    Returns:
        the sweep's rows and counts.

    Raises:
        InvalidInputError: no such benchmark or preset, a kernel that doesn't compile, a space without points, a
            user's kernel that accesses memory out of bounds.
        RefusalError: the kernel can't be read at all.
        DeviceError: no such device; it can't be opened (any more).
    """
    start = time.perf_counter()
    benchmark = find_benchmark(name_of(plan))
    device = find_device(plan.device)
    space = points(benchmark, plan.preset, plan.space, limits_of(device), device_kind_of(device.device_types))
    collector = CollectingObserver(observer or SweepObserver())
    with opened_context(plan, benchmark, device, store, collector, again, pool) as context:
        problem = RowSweep(context).run(space)
    if isinstance(plan.benchmark, Path):
        problem = explained(problem, benchmark, Path(name_of(plan)), plan.preset, collector.rows)
    seconds = time.perf_counter() - start
    return SweepSummary(benchmark.name, str(device), tuple(collector.rows), collector.measured, seconds, problem)


@contextmanager
def opened_context(
    plan: SweepPlan,
    benchmark: Benchmark,
    device: DeviceDescription,
    store: Store,
    observer: SweepObserver,
    again: Remeasure,
    pool: CompilePool | None,
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
    """
    with (
        CompilePool() if pool is None else nullcontext(pool) as compiling,
        compiler_of(plan, device, compiling) as compiler,
        context_of(plan, benchmark, device, store, Processes(compiling, compiler)) as context,
    ):
        yield replace(context, observer=observer, again=again)


@dataclass(frozen=True, slots=True)
class Processes:
    """What compiles and measures: a pool of processes, and the compiler of a benchmark that works in them."""

    pool: CompilePool
    compiler: Compiler


@contextmanager
def context_of(
    plan: SweepPlan,
    benchmark: Benchmark,
    device: DeviceDescription,
    store: Store,
    processes: Processes,
    default: Variant | None = None,
) -> Iterator[SweepContext]:
    """Open what one preset is measured with, in processes that other presets of the benchmark use as well.

    Args:
        plan: what to measure, where and how.
        benchmark: what it names.
        device: the same.
        store: where the rows go.
        processes: what compiles and measures.
        default: the version whose results others are compared with.
    """
    with MeasuringProcess(
        name_of(plan),
        plan.preset,
        plan.seed,
        machine_to_json(device),
        plan.method,
        benchmark.content_hash(plan.preset),
        shared_local_size=benchmark.shared_local_size,
        default=default,
        child=processes.pool.measuring(SERVICE, device.index),
    ) as process:
        yield SweepContext(
            device=str(device),
            environment=environment_of(device, plan.form),
            method=plan.method,
            subjects=CompiledSubjects(benchmark, plan.preset, plan.seed, processes.compiler.ir_hash),
            codes=processes.compiler,
            process=process,
            rows=store,
            lock=functools.partial(device_lock, device),
            compile_first="cpu" in device.device_types,
            confirms=plan.confirms,
            clock=benchmark.clock,
            default=default,
        )


def compiler_of(plan: SweepPlan, device: DeviceDescription, pool: CompilePool) -> Compiler:
    """Return the compiler of a plan's benchmark, for all presets; it is closed as a context manager."""
    machine = None if plan.form == "ptx" else machine_to_json(device)
    return Compiler(name_of(plan), plan.form, machine, plan.method, pool)


def name_of(plan: SweepPlan) -> str:
    """Return the benchmark as a child process finds it, whose folder is another."""
    return str(plan.benchmark.resolve()) if isinstance(plan.benchmark, Path) else plan.benchmark
