"""Every benchmark with whole work-groups merged: the reference's results on every device, the forms by turns.

`make test` runs one configuration for each benchmark; with COARSEN_DIFFERENTIAL=full a pairwise cover is run of
benchmarks along their dimensions, factors of groups and what is done to work-items, devices by turns
(`tests/selection.py`).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

import pyopencl as cl
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.ir.added_arguments import AddedArgument
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.pipeline import CoarsenedKernel
from coarsen.tuning.measure.comparison import compare
from coarsen.tuning.measure.run import KernelArgument, KernelChoice, LaunchableKernel
from coarsen.tuning.workload.benchmark import Launch, LocalSize, Workload
from coarsen.variant.coarsening import Coarsening, Configuration, Level, configuration
from tests.coarsened_kernel import coarsened_with
from tests.opencl_bench.workloads.divisible import DIVISIBLE
from tests.selection import everything_is_asked_for, turns_by
from tests.transform.harness import build_coarsened, divided, form_by_turns, is_left_out, of_items
from tests.transform.pairwise import pairwise_cover
from tests.transform.test_suite import local_bytes, lowered
from tests.workload_runs import build_program, kernels_of, run_workload

FACTORS = (2, 3, 4, 8)
# Small groups, so that there are many of them; the two that want other sizes than the rest.
LOCAL_SIZES: Mapping[tuple[str, int], LocalSize] = {
    ("mtLocal", 0): (8, 8),
    ("mtLocal", 1): (8, 8),
    ("stencil", 1): (2, 6, 2),
    ("stencil", 2): (2, 2, 2),
}


@dataclass(frozen=True)
class Merging:
    """One benchmark, merged in one way."""

    benchmark: str
    dimension: int
    chosen: Configuration

    def __str__(self) -> str:
        return "-".join([self.benchmark, *map(str, self.chosen)]).replace(" ", "_")

    @property
    def where(self) -> tuple[str, int]:
        """The benchmark and the dimension."""
        return self.benchmark, self.dimension

    @property
    def groups(self) -> Coarsening:
        """How work-groups are merged."""
        return next(coarsening for coarsening in self.chosen if coarsening.level is Level.GROUP)

    @property
    def items(self) -> tuple[tuple[int, int], ...]:
        """By which factor and stride work-items are merged, too."""
        return tuple((each.factor, each.stride) for each in self.chosen if each.level is Level.ITEM)


@functools.lru_cache(maxsize=32)
def workload(benchmark: str, dimension: int) -> Workload:
    chosen = SUITE[benchmark]
    size = list(DIVISIBLE[benchmark][dimension])
    size[dimension] //= 8
    return chosen.workload("test", local_size=LOCAL_SIZES.get((benchmark, dimension), tuple(size)))


def divides(launch: Launch, chosen: Configuration) -> bool:
    """Whether the groups of a launch, and the work-items of a group, divide."""
    groups = tuple(whole // part for whole, part in zip(launch.global_size, launch.local_size, strict=True))
    return all(
        (groups if coarsening.level is Level.GROUP else launch.local_size)[coarsening.dimension]
        % (coarsening.factor * coarsening.stride)
        == 0
        for coarsening in chosen
    )


def all_mergings() -> Iterator[Merging]:
    """Every benchmark along each dimension by each factor, alone and together with its work-items."""
    for benchmark in SUITE.values():
        for dimension, factor in itertools.product(benchmark.dimensions, FACTORS):
            groups = Coarsening(factor, dimension, level=Level.GROUP)
            for items in ([], [Coarsening(2, dimension)], [Coarsening(2, dimension, 2)]):
                chosen = configuration([groups, *items])
                if divides(workload(benchmark.name, dimension).launches[0], chosen):
                    yield Merging(benchmark.name, dimension, chosen)


def sample(everything: list[Merging]) -> list[Merging]:
    """One for each benchmark, other factors for one than for the next, or a pairwise cover of all."""
    if everything_is_asked_for():
        return pairwise_cover(everything, lambda each: (each.where, each.groups.factor, each.items))
    by_benchmark: dict[str, list[Merging]] = {}
    for merging in everything:
        by_benchmark.setdefault(merging.benchmark, []).append(merging)
    return [mergings[number * 5 % len(mergings)] for number, mergings in enumerate(by_benchmark.values())]


@functools.lru_cache(maxsize=64)
def merged(merging: Merging) -> CoarsenedKernel:
    """A benchmark's kernel, coarsened."""
    return coarsened_with(lowered(merging.benchmark), merging.chosen)


class MergedBenchmark:
    """Launches a benchmark's coarsened kernel where the sizes divide, else the original.

    `coarsened` counts the launches of the former.
    """

    def __init__(self, queue: cl.CommandQueue, merging: Merging, form: str) -> None:
        benchmark = SUITE[merging.benchmark]
        coarsened = merged(merging)
        self._chosen = merging.chosen
        self._added = coarsened.kernel.added_arguments
        # PyOpenCL's annotation of a kernel's arguments leaves out local memory, hence the cast.
        built = build_coarsened(queue.context, coarsened, form, benchmark.build_options)
        self._kernel = cast("LaunchableKernel", built)
        self._original: KernelChoice = kernels_of(build_program(queue.context, benchmark))
        self.coarsened = 0

    def choose(self, launch: Launch) -> LaunchableKernel:
        """The kernel for a launch."""
        if not divides(launch, self._chosen):
            return self._original(launch)
        self.coarsened += 1
        global_size = divided(launch.global_size, self._chosen)
        local_size = divided(launch.local_size, of_items(self._chosen))
        return lambda queue, _global, _local, *arguments, global_offset=None: self._kernel(
            queue,
            global_size,
            local_size,
            *arguments,
            *further(self._added, arguments),
            global_offset=global_offset,
        )


def further(added: tuple[AddedArgument, ...], arguments: tuple[KernelArgument, ...]) -> list[KernelArgument]:
    """What is passed for the local memory that the merging added."""
    sizes = [arguments[argument.like] for argument in added]
    return [cl.LocalMemory(memory.size) for memory in sizes if isinstance(memory, cl.LocalMemory)]


def runs_on(parameters: Mapping[str, Any]) -> bool:
    """Return True if the device has the local memory that the launches ask for, and the merging is for it."""
    merging, device = parameters["merging"], parameters["device"]
    if everything_is_asked_for():
        return not is_left_out(device, TURNS[MERGINGS.index(merging)], functools.partial(fits, merging))
    return fits(merging, device)


def fits(merging: Merging, device: DeviceDescription) -> bool:
    """Return True if a device has the local memory that the launches of merged groups ask for."""
    enough: bool = (
        merging.groups.factor * local_bytes(workload(merging.benchmark, merging.dimension)) <= device.local_memory
    )
    return enough


MERGINGS = sample(list(all_mergings()))
TURNS = turns_by([merging.benchmark for merging in MERGINGS])


@pytest.mark.parametrize("merging", MERGINGS, ids=str)
def test_gives_the_reference_results(merging: Merging, device: DeviceDescription, queue: cl.CommandQueue) -> None:
    work = workload(merging.benchmark, merging.dimension)
    form = form_by_turns(device, TURNS[MERGINGS.index(merging)])
    kernels = MergedBenchmark(queue, merging, form)
    result = run_workload(queue, work, kernels.choose)
    assert compare(result.outputs, work.expected(), work) == [], form
    assert not result.violated, f"{form}: guard zones of {result.violated} were written to"
    assert kernels.coarsened, f"{form}: no launch divided"
