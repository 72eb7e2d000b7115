"""Every benchmark, coarsened: the reference's results on every device, through both emitted forms.

With COARSEN_DIFFERENTIAL=full a pairwise cover of benchmarks, factors and strides is run, by `make test` a sample
of it. Devices and the emitted forms come by turns (`tests/selection.py`).
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import pyopencl as cl
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.pipeline import CoarsenedKernel
from coarsen.runtime.launch import LaunchLimits, divide_launch
from coarsen.tuning.measure.comparison import compare
from coarsen.tuning.measure.run import LaunchableKernel
from coarsen.tuning.workload.benchmark import Launch, Workload
from coarsen.variant.coarsening import Configuration, configuration
from tests import selection
from tests.coarsened_kernel import coarsened_with
from tests.opencl_bench.workloads.divisible import DIVISIBLE
from tests.selection import FULL, turns_by
from tests.transform.harness import build_coarsened, form_by_turns, is_left_out
from tests.transform.pairwise import Pair, pairs_of
from tests.transform.suite_combinations import Combination, all_combinations, chosen_combinations
from tests.workload_runs import run_workload


@functools.cache
def lowered(benchmark: str) -> Kernel:
    chosen = SUITE[benchmark]
    return lower(chosen.kernel_file, chosen.kernel, chosen.build_options)


@functools.lru_cache(maxsize=256)
def coarsened(benchmark: str, chosen: Configuration) -> CoarsenedKernel:
    return coarsened_with(lowered(benchmark), chosen)


@functools.lru_cache(maxsize=32)
def workload(benchmark: str, dimension: int) -> Workload:
    chosen = SUITE[benchmark]
    return chosen.workload("test", local_size=DIVISIBLE[benchmark][dimension])


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
    return not is_left_out(device, TURNS[COMBINATIONS.index(combination)], functools.partial(fits, combination))


def fits(combination: Combination, device: DeviceDescription) -> bool:
    """Whether the device has the local memory that the launches ask for."""
    work = workload(combination.benchmark, combination.coarsening.dimension)
    enough: bool = local_bytes(work) <= device.local_memory
    return enough


COMBINATIONS = chosen_combinations()
TURNS = turns_by([combination.where for combination in COMBINATIONS])


@pytest.mark.parametrize("combination", COMBINATIONS, ids=str)
def test_gives_the_reference_results(
    combination: Combination, device: DeviceDescription, queue: cl.CommandQueue
) -> None:
    work = workload(combination.benchmark, combination.coarsening.dimension)
    form = form_by_turns(device, TURNS[COMBINATIONS.index(combination)])
    kernels = CoarsenedBenchmark(queue, combination, form)
    result = run_workload(queue, work, kernels.choose)
    assert compare(result.outputs, work.expected(), work) == [], form
    assert not result.violated, f"{form}: guard zones of {result.violated} were written to"
    assert kernels.exact, f"{form}: no launch divided by {combination.coarsening}"


def local_bytes(work: Workload) -> int:
    """Dynamic local memory that a workload's launches ask for, in bytes."""
    return max(
        sum(getattr(argument, "byte_count", 0) for argument in launch.arguments) for launch in work.launches
    )


def test_the_pairwise_cover_covers_every_pair() -> None:
    everything = all_combinations()
    assert all_pairs(COMBINATIONS) == all_pairs(everything)
    assert len(COMBINATIONS) < len(everything)


def all_pairs(combinations: Iterable[Combination]) -> set[Pair]:
    return {pair for combination in combinations for pair in pairs_of(combination.values)}


@pytest.mark.parametrize("name", ["intel", "pocl", "oclgrind"])
def test_each_device_has_each_benchmark_along_each_dimension_each_factor_and_each_stride(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FULL, "full")
    monkeypatch.setattr(selection, "places", lambda: {"intel": 0, "pocl": 1, "oclgrind": 2})
    taken = [combination for combination, turn in zip(COMBINATIONS, TURNS, strict=True) if turn.is_for(name)]
    for own, every in zip(columns(taken), columns(all_combinations()), strict=True):
        assert own == every


def columns(combinations: Iterable[Combination]) -> list[set[Hashable]]:
    """What there is of each kind of value."""
    return [set(column) for column in zip(*(combination.values for combination in combinations), strict=True)]
