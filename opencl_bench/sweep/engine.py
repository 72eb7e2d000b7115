"""What a benchmark is measured with on a device: processes that compile, and one that measures."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from coarsen.devices.discovery import DeviceDescription
from coarsen.tuning.engine.observer import SweepObserver
from coarsen.tuning.engine.plan import SweepPlan
from coarsen.tuning.engine.row_measurer import SweepContext
from coarsen.tuning.measure.machine import environment_of
from coarsen.tuning.processes.compiler import CompiledSubjects, CompilePool, Compiler
from coarsen.tuning.processes.device_lock import device_lock
from coarsen.tuning.processes.measuring_process import SERVICE, MeasuringProcess, machine_to_json
from coarsen.tuning.settings import Remeasure
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
    return Compiler(name_of(plan), plan.form, machine_to_json(device), plan.method, pool)


def name_of(plan: SweepPlan) -> str:
    """Return the benchmark as a child process finds it, whose folder is another."""
    return str(plan.benchmark.resolve()) if isinstance(plan.benchmark, Path) else plan.benchmark
