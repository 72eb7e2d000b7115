"""One kernel as a PyOpenCL program has it, tuned at its first launch or taken from the store, and timed.

    workload ─▶ coarsen.Program(tune=…) ─▶ first launch ─▶ in turns: the kernel as it is, as chosen, as best known

`tuned_kernels` starts it in a process of its own, whose store the environment names, and reads the last
line that it prints, JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

import pyopencl as cl

from coarsen.devices.discovery import open_device
from coarsen.devices.selection import find_device
from coarsen.drop_in.mode import REMEMBERED
from coarsen.drop_in.program import Program
from coarsen.drop_in.program import Program as AdvisedProgram
from coarsen.opencl_bench.studies.tuned_rows import AS_IT_IS, CHOSEN, KNOWN, LOCAL_SIZE, known_label
from coarsen.opencl_bench.workloads.lookup import further_benchmark
from coarsen.runtime.advice import AdviceRequest, Decision, Policy
from coarsen.tuning.measure.comparison import compare
from coarsen.tuning.measure.run import DeviceWorkload, LaunchableKernel
from coarsen.tuning.measure.speedup import median
from coarsen.tuning.settings import Tune
from coarsen.tuning.workload.benchmark import Benchmark, Launch
from coarsen.variant.variant import Variant
from coarsen.variant.variant_json import variant_from_json

# Seconds of timing, and the fewest and the most rounds.
_SECONDS = 4.0
_LEAST_ROUNDS = 5
_MOST_ROUNDS = 40
# So many of the best known are timed: the first of a sweep owes part of its place to luck.
_MOST_KNOWN = 3
_ASKED_FOR = "asked for"


@dataclass(frozen=True, slots=True)
class FixedAdvisor(Policy):
    """Advises one variant, whatever the launch."""

    variant: Variant
    looks_at_arguments: bool = False

    def known_variants(self, _request: AdviceRequest) -> tuple[Variant, ...]:
        """Return nothing."""
        return ()

    def choose(self, _request: AdviceRequest) -> Decision:
        """Return the variant."""
        return Decision(self.variant, _ASKED_FOR)


@dataclass(frozen=True, slots=True)
class Site:
    """The place of a program's kernel: where it is built, and how it is launched first."""

    context: cl.Context
    queue: cl.CommandQueue
    benchmark: Benchmark
    options: Sequence[str]
    launch: Launch

    def kernel_of(self, variant: Variant) -> LaunchableKernel | None:
        """Return a kernel that is launched as a variant; None where the drop-in can't launch it so.

        Another local size can't be given to a kernel whose work-items must be grouped as they are.
        """
        source = self.benchmark.source
        advised = AdvisedProgram(self.context, source, tune=FixedAdvisor(variant))
        kernel = advised.build(list(self.options)).kernel(self.benchmark.kernel)
        launch = self.launch
        divided = kernel.divided(self.queue.device, launch.global_size, launch.local_size)
        return kernel if divided.reason == _ASKED_FOR else None


def options_of(benchmark: Benchmark) -> list[str]:
    """Return a benchmark's build options with its macros at their own values."""
    return [*benchmark.build_options, *(f"-D{name}={value}" for name, value in benchmark.own_definitions)]


@dataclass(frozen=True, slots=True)
class Beside:
    """The kernels beside the choice, by label; None for the kernel as it is.

    `not_launchable` counts the variants that would have come before, could the drop-in launch them.
    """

    kernels: Mapping[str, LaunchableKernel | None]
    not_launchable: int


def beside(site: Site, wanted: Mapping[str, Sequence[object]]) -> Beside:
    """Return the best that are known, of those that the drop-in can launch.

    Args:
        site: where they are launched.
        wanted: variants as JSON, the best first, by `LOCAL_SIZE` and `KNOWN`.
    """
    sizes, known = list(wanted.get(LOCAL_SIZE, ())), list(wanted.get(KNOWN, ()))
    at_size, skipped = launchable(site, sizes, 1)
    best, left_out = launchable(site, known, _MOST_KNOWN)
    by_label = {known_label(place): kernel for place, kernel in enumerate(best)}
    return Beside(dict(zip([LOCAL_SIZE], at_size, strict=False)) | by_label, skipped + left_out)


def launchable(site: Site, variants: Sequence[object], most: int) -> tuple[list[LaunchableKernel | None], int]:
    """Return kernels of the first variants that the drop-in can launch, and how many of those before it can't."""
    found: list[LaunchableKernel | None] = []
    skipped = 0
    for variant in map(variant_from_json, variants):
        is_own = not variant.is_coarsened and variant.local_size in ((), site.launch.local_size)
        kernel = None if is_own else site.kernel_of(variant)
        if is_own or kernel is not None:
            found.append(kernel)
        else:
            skipped += 1
        if len(found) == most:
            break
    return found, skipped


def measured(words: argparse.Namespace) -> dict[str, object]:
    """Make the program, launch it, and time it against others unless it was tuned just now."""
    begun = time.perf_counter()
    benchmark = further_benchmark(words.kernel)
    context = cl.Context([open_device(find_device(words.device))])
    queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    workload = benchmark.workload(words.preset)
    work = DeviceWorkload(queue, workload)
    site = Site(context, queue, benchmark, options_of(benchmark), workload.launches[0])
    ready = time.perf_counter()
    plain_program = cl.Program(context, benchmark.source).build(site.options)
    # PyOpenCL's annotation of a kernel's arguments leaves out local memory.
    plain = cast("LaunchableKernel", cl.Kernel(plain_program, benchmark.kernel))
    plain_seconds = _seconds(lambda: work.execute(lambda _: plain))
    expected = work.outputs()
    work.reset()
    start = time.perf_counter()
    tune = Tune(words.seconds) if words.seconds else REMEMBERED
    chosen = Program(context, benchmark.source, tune=tune).build(site.options).kernel(benchmark.kernel)
    work.execute(lambda _: chosen)
    first_seconds = time.perf_counter() - start
    wrong = compare(work.outputs(), expected, workload)
    kernels: dict[str, LaunchableKernel] = {AS_IT_IS: plain, CHOSEN: chosen}
    wanted = json.loads(words.others)
    divided = chosen.divided(queue.device, site.launch.global_size, site.launch.local_size)
    times = {} if words.seconds else timed(work, workload.outputs, site, kernels, wanted)
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
        **times,
    }


def timed(
    work: DeviceWorkload,
    outputs: Sequence[str],
    site: Site,
    kernels: Mapping[str, LaunchableKernel],
    wanted: Mapping[str, Sequence[object]],
) -> dict[str, object]:
    """Return the median durations of some kernels and of the best that are known, in nanoseconds, by label."""
    best = beside(site, wanted)
    others = {name: kernel for name, kernel in best.kernels.items() if kernel is not None}
    found = timed_in_turns(work, outputs, {**kernels, **others})
    as_they_are = {name: found[AS_IT_IS] for name in best.kernels if name not in others}
    return {"nanoseconds": found | as_they_are, "not_launchable": best.not_launchable}


def timed_in_turns(
    work: DeviceWorkload, outputs: Sequence[str], kernels: Mapping[str, LaunchableKernel]
) -> dict[str, float]:
    """Return the median duration of each kernel, in nanoseconds; they run in turns, each on the same data."""
    runs: dict[str, list[int]] = {name: [] for name in kernels}
    names = list(kernels)
    end = time.monotonic() + _SECONDS
    for number in range(_MOST_ROUNDS):
        first = number % len(names)
        for name in (*names[first:], *names[:first]):
            work.restore(outputs)
            runs[name].append(work.execute(partial(_always, kernels[name])))
        if time.monotonic() > end and number + 1 >= _LEAST_ROUNDS:
            break
    return {name: median(each) for name, each in runs.items()}


def _always(kernel: LaunchableKernel, _launch: Launch) -> LaunchableKernel:
    return kernel


def _seconds(task: Callable[[], object]) -> float:
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def main() -> int:
    """Measure one kernel and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernel", help="of the suite or the further ones")
    parser.add_argument("device")
    parser.add_argument("--preset", default="cpu")
    parser.add_argument("--seconds", type=float, default=0.0, help="of tuning; 0 where the store is to know")
    parser.add_argument("--others", default="{}", help="variants to be timed beside it, JSON by label")
    print(json.dumps(measured(parser.parse_args())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
