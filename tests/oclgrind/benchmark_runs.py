"""The suite's benchmarks at their `test` preset, as they are and coarsened, under Oclgrind."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyopencl as cl

from coarsen.devices.building import build_uncached
from coarsen.devices.discovery import DeviceDescription
from coarsen.frontend.lower import lower
from coarsen.ir.added_arguments import AddedArgument
from coarsen.ir.kernel import Kernel
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.pipeline import CoarsenedKernel
from coarsen.tuning.measure.comparison import compare
from coarsen.tuning.workload.benchmark import (
    Argument,
    Array,
    BufferArgument,
    Launch,
    LocalArgument,
    ScalarArgument,
    Workload,
)
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.transforms import Transforms, Use
from tests.coarsened_kernel import coarsened_with
from tests.fuzz import launches
from tests.oclgrind.watch import Findings, watching
from tests.opencl_bench.workloads.divisible import DIVISIBLE

FACTORS = (2, 4)
LOCAL_MEMORY = 32768  # of Oclgrind's device, in bytes
EVERYTHING = Transforms(Use.ALWAYS, Use.ALWAYS, wide_accesses=True)


@dataclass(frozen=True)
class Run:
    """A benchmark, coarsened."""

    benchmark: str
    coarsening: Coarsening
    transforms: Transforms = EVERYTHING

    def __str__(self) -> str:
        chosen = self.coarsening
        return f"{self.benchmark}-dimension{chosen.dimension}-{chosen.level}-factor{chosen.factor}"

    @property
    def chosen(self) -> tuple[Coarsening, ...]:
        """The configuration."""
        return () if self.coarsening.factor == 1 else (self.coarsening,)


def all_runs() -> Iterator[Run]:
    """Every benchmark along each dimension by each factor, at both levels."""
    for benchmark in SUITE.values():
        for dimension in benchmark.dimensions:
            for level in Level:
                yield from (Run(benchmark.name, Coarsening(factor, dimension, 1, level)) for factor in FACTORS)


def original_of(run: Run) -> Run:
    """The uncoarsened run with which one is compared."""
    return Run(run.benchmark, Coarsening(1, run.coarsening.dimension))


@dataclass(frozen=True)
class Outcome:
    """What Oclgrind found, and what was wrong with the results, a sentence each."""

    findings: Findings
    wrong: tuple[str, ...]


@functools.lru_cache(maxsize=1)
def workload_of(benchmark: str, dimension: int) -> Workload:
    """The workload at the `test` preset, with work-groups of which the largest factor's number can be merged."""
    chosen = SUITE[benchmark]
    sizes = (*chosen.local_sizes_of("test"), DIVISIBLE[benchmark][dimension])
    workloads = (chosen.workload("test", local_size=size) for size in sizes if size[dimension] % max(FACTORS) == 0)
    return next(workload for workload in workloads if _local_bytes(workload) * max(FACTORS) <= LOCAL_MEMORY)


def _local_bytes(workload: Workload) -> int:
    launch = workload.launches[0]
    return sum(argument.byte_count for argument in launch.arguments if isinstance(argument, LocalArgument))


@functools.lru_cache(maxsize=1)
def expected(benchmark: str, dimension: int) -> dict[str, Array]:
    """The outputs that the reference gives."""
    return dict(workload_of(benchmark, dimension).expected())


def watched_run(run: Run, device: DeviceDescription, source: str | None = None) -> Outcome:
    """Run a benchmark on Oclgrind; `source`, if given, takes the place of its kernel's."""
    workload = workload_of(run.benchmark, run.coarsening.dimension)
    with watching(device) as watched:
        kernel = _Kernel(watched.context, run, workload, source)
        buffers = _buffers(watched.context, workload)
        for launch in workload.launches:
            kernel.launch(watched.queue, launch, buffers)
        findings = watched.findings()
        outputs = {
            name: _contents(watched.queue, buffers[name], workload.buffers[name]) for name in workload.outputs
        }
    wrong = compare(outputs, expected(run.benchmark, run.coarsening.dimension), workload)
    return Outcome(findings, tuple(wrong))


class _Kernel:
    """A benchmark's kernel, coarsened as a run says, built for Oclgrind."""

    def __init__(self, context: cl.Context, run: Run, workload: Workload, source: str | None) -> None:
        benchmark = SUITE[run.benchmark]
        self._chosen = run.chosen
        self._any_size = not all(launches.divides(_sizes(launch), run.chosen) for launch in workload.launches)
        self._added: tuple[AddedArgument, ...] = ()
        code, options = source or benchmark.source, list(benchmark.build_options)
        if run.chosen:
            lowered = lower(code, benchmark.kernel, benchmark.build_options)
            kernel = self._coarsened(lowered, run.transforms)
            self._added = kernel.added_arguments
            code, options = kernel.opencl_c, [kernel.opencl_c_standard]
        self._kernel = cl.Kernel(build_uncached(context, code, options), benchmark.kernel)

    def _coarsened(self, lowered: Kernel, transforms: Transforms) -> CoarsenedKernel:
        return coarsened_with(lowered, self._chosen, transforms=transforms, any_size=self._any_size)

    def launch(self, queue: cl.CommandQueue, launch: Launch, buffers: dict[str, cl.Buffer]) -> None:
        """Launch with the sizes that the coarsening makes of the original's."""
        arguments = [_value(argument, buffers) for argument in launch.arguments]
        arguments += [_value_of_added(argument, launch) for argument in self._added]
        sizes = launches.sizes_of(_sizes(launch), self._chosen, self._any_size, free_local_size=1)
        self._kernel.set_args(*arguments)
        cl.enqueue_nd_range_kernel(queue, self._kernel, *sizes).wait()


def _sizes(launch: Launch) -> launches.Launch:
    return launches.Launch(launch.global_size, launch.local_size, None)


def _buffers(context: cl.Context, workload: Workload) -> dict[str, cl.Buffer]:
    """Buffers that end where their contents do, so that what is beyond is out of bounds."""
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    return {name: cl.Buffer(context, flags, hostbuf=array) for name, array in workload.buffers.items()}


def _contents(queue: cl.CommandQueue, buffer: cl.Buffer, like: Array) -> Array:
    contents = np.empty_like(like)
    cl.enqueue_copy(queue, contents, buffer)
    return contents


# PyOpenCL's annotation of a kernel's arguments leaves out local memory.
def _value(argument: Argument, buffers: dict[str, cl.Buffer]) -> Any:  # noqa: ANN401
    if isinstance(argument, BufferArgument):
        return buffers[argument.name]
    if isinstance(argument, LocalArgument):
        return cl.LocalMemory(argument.byte_count)
    return argument.value if isinstance(argument, ScalarArgument) else None


def _value_of_added(argument: AddedArgument, launch: Launch) -> Any:  # noqa: ANN401
    if argument.meaning == "global-size":
        return np.uint64(launch.global_size[argument.dimension])
    like = launch.arguments[argument.like]
    assert isinstance(like, LocalArgument)
    return cl.LocalMemory(like.byte_count)
