"""One kernel of the suite as a PyOpenCL program has it, tuned at its first launch or from the store, and timed.

    workload ─▶ coarsen.Program(tune=…) ─▶ first launch ─▶ in turns: the kernel as it is, as chosen, as best known

`tuned_kernels` starts it in a process of its own, and reads the one line of JSON that it prints.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import pyopencl as cl

from coarsen.devices.discovery import open_device
from coarsen.devices.selection import find_device
from coarsen.drop_in.program import Program
from coarsen.opencl_bench.measure.comparison import compare
from coarsen.opencl_bench.measure.run import DeviceWorkload, LaunchableKernel
from coarsen.opencl_bench.measure.speedup import median
from coarsen.opencl_bench.tuning.settings import Tune
from coarsen.opencl_bench.workloads.benchmark import Benchmark
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.runtime.advice import Advice, AdviceRequest
from coarsen.runtime.program import Program as AdvisedProgram
from coarsen.variant.variant import Variant
from coarsen.variant.variant_json import variant_from_json

# Seconds of timing, and the fewest rounds.
_SECONDS = 4.0
_LEAST_ROUNDS = 5
_MOST_ROUNDS = 40
_ASKED_FOR = "asked for"


@dataclass(frozen=True, slots=True)
class FixedAdvisor:
    """Advises one variant, whatever the launch."""

    variant: Variant
    looks_at_arguments: bool = False

    def advise(self, _request: AdviceRequest) -> Advice:
        """Return the variant."""
        return Advice(self.variant, _ASKED_FOR)


def options_of(benchmark: Benchmark) -> list[str]:
    """Return a benchmark's build options with its macros at their own values."""
    return [*benchmark.build_options, *(f"-D{name}={value}" for name, value in benchmark.own_definitions)]


def timed_in_turns(
    work: DeviceWorkload, outputs: Sequence[str], kernels: Mapping[str, LaunchableKernel]
) -> dict[str, float]:
    """Return the median duration of each kernel, in nanoseconds; they run in turns, each on the same data."""
    runs: dict[str, list[int]] = {name: [] for name in kernels}
    end = time.monotonic() + _SECONDS
    while len(next(iter(runs.values()))) < _MOST_ROUNDS:
        for name, kernel in kernels.items():
            work.restore(outputs)
            runs[name].append(work.execute(lambda _, kernel=kernel: kernel))  # type: ignore[misc]
        if time.monotonic() > end and len(next(iter(runs.values()))) >= _LEAST_ROUNDS:
            break
    return {name: median(each) for name, each in runs.items()}


def measured(words: argparse.Namespace) -> dict[str, object]:
    """Make the program, launch it, and time it against others."""
    begun = time.perf_counter()
    benchmark = find_benchmark(words.kernel)
    context = cl.Context([open_device(find_device(words.device))])
    queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    workload = benchmark.workload(words.preset)
    work = DeviceWorkload(queue, workload)
    options, name = options_of(benchmark), benchmark.kernel
    ready = time.perf_counter()
    # PyOpenCL's annotation of a kernel's arguments leaves out local memory.
    plain = cast("LaunchableKernel", cl.Kernel(cl.Program(context, benchmark.source).build(options), name))
    plain_seconds = _seconds(lambda: work.execute(lambda _: plain))
    expected = work.outputs()
    work.reset()
    tune = Tune(words.seconds, store=words.store) if words.seconds else Tune(store=words.store, trials=1)
    start = time.perf_counter()
    program = Program(context, benchmark.source, tune=tune).build(options)
    chosen = program.kernel(name)
    work.execute(lambda _: chosen)
    first_seconds = time.perf_counter() - start
    wrong = compare(work.outputs(), expected, workload)
    kernels: dict[str, LaunchableKernel] = {"as it is": plain, "chosen": chosen}
    launch = workload.launches[0]
    for label, variant in json.loads(words.others).items():
        advised = AdvisedProgram(context, benchmark.source, advisor=FixedAdvisor(variant_from_json(variant)))
        kernel = advised.build(options).kernel(name)
        # Another local size can't be given to a kernel whose work-items must be grouped as they are.
        if kernel.divided(queue.device, launch.global_size, launch.local_size).reason == _ASKED_FOR:
            kernels[label] = kernel
    divided = chosen.divided(queue.device, launch.global_size, launch.local_size)
    return {
        "kernel": words.kernel,
        "device": words.device,
        "wrong": wrong,
        "preparing_seconds": ready - begun,
        "plain_first_seconds": plain_seconds,
        "first_seconds": first_seconds,
        "chosen": ", ".join(map(str, divided.coarsenings)) or "as it is",
        "local_size": list(divided.local_size or ()),
        "reason": divided.reason or "",
        "nanoseconds": timed_in_turns(work, workload.outputs, kernels),
    }


def _seconds(task: Callable[[], object]) -> float:
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def main() -> int:
    """Measure one kernel and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernel")
    parser.add_argument("device")
    parser.add_argument("--preset", default="cpu")
    parser.add_argument("--store", required=True)
    parser.add_argument("--seconds", type=float, default=0.0, help="of tuning; 0 where the store is to know")
    parser.add_argument("--others", default="{}", help="variants to be timed beside it, JSON by label")
    print(json.dumps(measured(parser.parse_args())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
