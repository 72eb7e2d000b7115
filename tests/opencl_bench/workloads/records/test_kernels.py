"""The kernels on records: on compiled devices, coarsened, they leave what they leave as they are written.

Those of an interpreter, which looks for races as well, are in `tests/oclgrind/test_records.py`.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from coarsen.opencl_bench.workloads.lookup import find_benchmark, records
from coarsen.tuning.measure.comparison import compare, is_same
from coarsen.tuning.workload.benchmark import Preset
from coarsen.variant.coarsening import Coarsening, Level
from tests.opencl_bench.workloads.coarsened_run import run_coarsened, run_original
from tests.selection import everything_is_asked_for, is_one_of_two, takes_turn
from tests.transform.pairwise import pairwise_cover
from tests.workload_runs import kernels_of, run_workload

FACTORS = (2, 4)


@pytest.mark.compiled_devices
@pytest.mark.parametrize("name", records())
def test_every_output_is_written(queue: cl.CommandQueue, name: str) -> None:
    workload = find_benchmark(name).workload("test")
    result = run_original(queue, name, workload)
    for output in workload.outputs:
        assert not is_same(result.outputs[output], workload.buffers[output]), output


@pytest.mark.compiled_devices
@pytest.mark.parametrize("name", ["records-bitonic_global", "records-bitonic_local"])
def test_records_are_sorted(queue: cl.CommandQueue, name: str) -> None:
    workload = find_benchmark(name).workload("test")
    (sorted_,) = run_original(queue, name, workload).outputs.values()
    records_ = workload.buffers["records"]
    order = np.lexsort([records_[field] for field in ("number", "flag", "group", "key")])
    assert np.array_equal(sorted_, records_[order])


def test_counters_in_global_memory_give_the_same(queue: cl.CommandQueue) -> None:
    chosen = find_benchmark("records-kd_bin")
    workload = chosen.workload("test", definitions=(("LOCAL_COUNTERS", "0"),))
    program = cl.Program(queue.context, chosen.source).build([*chosen.build_options, "-DLOCAL_COUNTERS=0"])
    result = run_workload(queue, workload, kernels_of(program))
    assert compare(result.outputs, run_original(queue, chosen.name, workload).outputs, workload) == []


ONE_EXTENT = tuple(name for name in records() if len(find_benchmark(name).presets["test"].size) == 1)


@pytest.mark.compiled_devices
@pytest.mark.parametrize("name", ONE_EXTENT)
def test_few_records_and_numbers_beside_a_vectors_width(queue: cl.CommandQueue, name: str) -> None:
    chosen = find_benchmark(name)
    ((extent, _),) = chosen.presets["test"].size.items()
    sizes = {str(count): Preset({extent: count}, (32,)) for count in (1, 31, 33, 64)}
    for preset in sizes:
        workload = replace(chosen, presets=sizes).workload(preset)
        wanted = run_original(queue, name, workload).outputs
        result = run_coarsened(queue, name, Coarsening(2, 0), workload)
        assert compare(result.outputs, wanted, workload) == [], preset
        assert not result.violated


def coarsenings() -> list[tuple[str, Coarsening]]:
    """Every kernel by each factor; dimensions, levels and strides by turns, or pairwise if all is asked for."""
    sample, everything = [], []
    for number, (name, factor) in enumerate(itertools.product(records(), FACTORS)):
        dimensions = find_benchmark(name).dimensions
        kinds = [Coarsening(factor, along, 1, level) for level in Level for along in dimensions]
        kinds += [Coarsening(factor, along, 2) for along in dimensions]
        sample.append((name, kinds[number % len(kinds)]))
        everything += [(name, chosen) for chosen in kinds]
    return pairwise_cover(everything, values_of) if everything_is_asked_for() else sample


def values_of(combination: tuple[str, Coarsening]) -> tuple[Hashable, ...]:
    """The kernel with the dimension, the factor, and what is merged how."""
    name, chosen = combination
    return (name, chosen.dimension), chosen.factor, (chosen.level, chosen.stride)


COARSENINGS = coarsenings()


def runs_on(parameters: Mapping[str, Any]) -> bool:
    """Return True but for coarsened kernels on one compiled device, by turns.

    As it is written, or at a few sizes, `make test` runs a kernel on one of the devices.
    """
    if "name" not in parameters:
        return True
    if "chosen" not in parameters:
        return takes_turn([*records()].index(parameters["name"]), parameters["device"])
    index = COARSENINGS.index((parameters["name"], parameters["chosen"]))
    # From one kernel to the next, other factors are PoCL's.
    return is_one_of_two(index + index // len(FACTORS), parameters["device"])


@pytest.mark.compiled_devices
@pytest.mark.parametrize(("name", "chosen"), COARSENINGS, ids=str)
def test_coarsened_it_gives_the_same_results(queue: cl.CommandQueue, name: str, chosen: Coarsening) -> None:
    workload = find_benchmark(name).workload("test", seed=1)
    wanted = run_original(queue, name, workload).outputs
    result = run_coarsened(queue, name, chosen, workload)
    assert compare(result.outputs, wanted, workload) == []
    assert not result.violated
