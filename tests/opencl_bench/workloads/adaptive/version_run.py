"""Running a version of a described kernel: its macros, its launches, none coarsened."""

from __future__ import annotations

import pyopencl as cl

from coarsen.devices.building import build_uncached
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.variant.variant import Definitions
from tests.workload_runs import RunResult, kernels_of, run_workload


def implementations(name: str) -> list[Definitions]:
    """The macros of each implementation; of the others, the first values with which it has launches."""
    benchmark = find_benchmark(name)
    found = []
    for implementation in benchmark.tunables.get("IMPL", ("",)):
        own = {**dict(benchmark.own_definitions), **({"IMPL": implementation} if implementation else {})}
        others = [{**own, macro: value} for macro, values in benchmark.tunables.items() for value in values[1:]]
        tried = (tuple(sorted(each.items())) for each in (own, *others) if each.get("IMPL", "") == implementation)
        found.append(next(each for each in tried if has_launches(name, each)))
    return found


def has_launches(name: str, definitions: Definitions) -> bool:
    """Return True unless a condition rules these macros out."""
    try:
        return bool(find_benchmark(name).launches("test", None, definitions))
    except InvalidInputError:
        return False


def run_version(queue: cl.CommandQueue, name: str, definitions: Definitions, seed: int) -> RunResult:
    """Run a version with the local size of the test."""
    benchmark = find_benchmark(name)
    options = [*benchmark.build_options, *(f"-D{macro}={value}" for macro, value in definitions)]
    program = build_uncached(queue.context, benchmark.source, options)
    return run_workload(queue, benchmark.workload("test", seed, None, definitions), kernels_of(program))
