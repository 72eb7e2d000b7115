"""Every benchmark, coarsened: the reference's results on every device, through both emitted forms.

COARSEN_DIFFERENTIAL=full runs the full product, `make test` a sample of a pairwise cover. Devices and the emitted
forms come by turns (`tests/selection.py`); Oclgrind, the slowest, takes its turns of the cover alone.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pyopencl as cl
import pytest

from coarsen.coarsened_kernel import CoarsenedKernel
from coarsen.devices.discovery import DeviceDescription
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.opencl_bench.measure.comparison import compare
from coarsen.opencl_bench.measure.run import LaunchableKernel, run_workload
from coarsen.opencl_bench.workloads.benchmark import Launch, Workload
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.pipeline import coarsen_kernel
from coarsen.runtime.launch import divide_launch
from coarsen.runtime.sizes import LaunchLimits
from coarsen.variant.coarsening import Configuration, configuration
from tests.selection import FULL, turns_by
from tests.transform.harness import build_coarsened, form_by_turns, is_left_out
from tests.transform.suite_combinations import Combination, all_combinations, chosen_combinations, pairwise_cover


@functools.cache
def lowered(benchmark: str) -> Kernel:
    chosen = SUITE[benchmark]
    return lower(chosen.kernel_file, chosen.kernel, chosen.build_options)


@functools.lru_cache(maxsize=256)
def coarsened(benchmark: str, chosen: Configuration) -> CoarsenedKernel:
    return CoarsenedKernel(coarsen_kernel(lowered(benchmark), chosen), chosen, ())


@functools.lru_cache(maxsize=32)
def workload(benchmark: str, dimension: int) -> Workload:
    chosen = SUITE[benchmark]
    return chosen.workload("test", local_size=chosen.divisible_local_sizes[dimension])


class CoarsenedBenchmark:
    """Launches a benchmark's coarsened kernel with its sizes divided, as the launch contract says.

    A launch whose sizes don't divide takes the factor that the contract gives; `exact` counts those that do.
    """

    def __init__(self, queue: cl.CommandQueue, combination: Combination, form: str) -> None:
        self._context = queue.context
        device = queue.device
        self._limits = LaunchLimits(device.max_work_group_size, tuple(device.max_work_item_sizes))
        self._benchmark = SUITE[combination.benchmark]
        self._chosen = (combination.coarsening,)
        self._form = form
        self._built: dict[Configuration, cl.Kernel] = {}
        self.exact = 0

    def choose(self, launch: Launch) -> LaunchableKernel:
        """The kernel for a launch."""
        plan = divide_launch(launch.global_size, launch.local_size, self._chosen, self._limits)
        used = configuration(plan.coarsenings)
        self.exact += used == configuration(self._chosen)
        if used not in self._built:
            self._built[used] = self._build(used)
        kernel = self._built[used]
        return lambda queue, _global, _local, *arguments, global_offset=None: kernel(
            queue, plan.global_size, plan.local_size, *arguments, global_offset=global_offset
        )

    def _build(self, used: Configuration) -> cl.Kernel:
        kernel = coarsened(self._benchmark.name, used)
        return build_coarsened(self._context, kernel, self._form, self._benchmark.build_options)


def runs_on(parameters: Mapping[str, Any]) -> bool:
    """Whether the device has the memory that the launches ask for, and the combination is for it."""
    combination, device = parameters["combination"], parameters["device"]
    if device.is_called("oclgrind") and combination not in COVER:
        return False
    return fits(combination, device) and not is_left_out(device, TURNS[COMBINATIONS.index(combination)])


def fits(combination: Combination, device: DeviceDescription) -> bool:
    """Whether the device has the local memory that the launches ask for."""
    work = workload(combination.benchmark, combination.coarsening.dimension)
    enough: bool = local_bytes(work) <= device.local_memory
    return enough


def where_of(combination: Combination) -> tuple[str, int]:
    """A combination's benchmark and dimension, in which others are beside it."""
    return combination.benchmark, combination.coarsening.dimension


COMBINATIONS = chosen_combinations()
COVER = frozenset(pairwise_cover(all_combinations()))
TURNS = turns_by([where_of(each) for each in COMBINATIONS])


@pytest.mark.parametrize("combination", COMBINATIONS, ids=str)
def test_gives_the_reference_results(
    combination: Combination, device: DeviceDescription, queue: cl.CommandQueue
) -> None:
    work = workload(combination.benchmark, combination.coarsening.dimension)
    form = form_by_turns(device, TURNS[COMBINATIONS.index(combination)])
    kernels = CoarsenedBenchmark(queue, combination, form)
    result = run_workload(queue, work, kernels.choose)
    assert compare(result.outputs, work.expected(), work) == [], form
    assert result.guards_intact, f"{form}: guard zones of {result.violated} were written to"
    assert kernels.exact, f"{form}: no launch divided by {combination.coarsening}"


def local_bytes(work: Workload) -> int:
    """Dynamic local memory that a workload's launches ask for, in bytes."""
    return max(
        sum(getattr(argument, "byte_count", 0) for argument in launch.arguments) for launch in work.launches
    )


def test_the_pairwise_cover_covers_every_pair() -> None:
    everything = all_combinations()
    cover = pairwise_cover(everything)
    assert set().union(*(c.pairs() for c in cover)) == set().union(*(c.pairs() for c in everything))
    assert len(cover) < len(everything)


@pytest.mark.parametrize("name", ["intel", "pocl"])
def test_each_compiled_device_has_every_pair_that_comes_more_than_three_times(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FULL, "full")
    everything = all_combinations()
    count = Counter(pair for combination in everything for pair in combination.pairs())
    turns = zip(everything, turns_by([where_of(each) for each in everything]), strict=True)
    taken = (combination.pairs() for combination, turn in turns if turn.is_for(name))
    assert set().union(*taken) >= {pair for pair, times in count.items() if times > 3}


def test_oclgrind_has_each_benchmark_along_each_dimension(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FULL, "full")
    everything = all_combinations()
    turns = zip(everything, turns_by([where_of(each) for each in everything]), strict=True)
    taken = {where_of(each) for each, turn in turns if each in COVER and turn.is_for("oclgrind")}
    assert taken == {where_of(each) for each in everything}
