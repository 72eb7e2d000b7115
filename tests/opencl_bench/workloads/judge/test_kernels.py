"""The second judge's kernels on devices: coarsened, they leave what they leave as they are written."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import pyopencl as cl
import pytest

from coarsen.opencl_bench.workloads.lookup import judge
from coarsen.tuning.measure.comparison import compare, is_same
from coarsen.variant.coarsening import Coarsening, Level
from tests.opencl_bench.workloads.coarsened_run import run_coarsened, run_original
from tests.selection import everything_is_asked_for, is_one_of_two, takes_turn

FACTORS = (2, 4)


@pytest.mark.parametrize("name", judge())
def test_every_output_is_written(queue: cl.CommandQueue, name: str) -> None:
    workload = judge()[name].workload("test")
    result = run_original(queue, name, workload)
    for output in workload.outputs:
        assert not is_same(result.outputs[output], workload.buffers[output]), output


def coarsenings() -> Iterator[tuple[str, Coarsening]]:
    """Every kernel along each dimension, by a factor and at a level by turns; by both factors if asked for."""
    along = [(name, dimension) for name, chosen in judge().items() for dimension in chosen.dimensions]
    kinds = tuple(itertools.product(FACTORS, Level))
    for number, (name, dimension) in enumerate(along):
        # Both factors and both levels: a factor of work-items, and the other of work-groups.
        both = (kinds[0], kinds[3]) if number % 2 else (kinds[1], kinds[2])
        shown = both if everything_is_asked_for() else (kinds[number % len(kinds)],)
        yield from ((name, Coarsening(factor, dimension, 1, level)) for factor, level in shown)


COARSENINGS = tuple(coarsenings())


def runs_on(parameters: Mapping[str, Any]) -> bool:
    """Return True but for coarsened kernels on half of the compiled devices, by turns, and on an interpreter.

    As it is written, `make test` runs a kernel on one of the devices.
    """
    if "chosen" not in parameters:
        return takes_turn([*judge()].index(parameters["name"]), parameters["device"])
    index = COARSENINGS.index((parameters["name"], parameters["chosen"]))
    return is_one_of_two(index, parameters["device"])


@pytest.mark.compiled_devices
@pytest.mark.parametrize(("name", "chosen"), COARSENINGS, ids=str)
def test_coarsened_it_gives_the_same_results(queue: cl.CommandQueue, name: str, chosen: Coarsening) -> None:
    workload = judge()[name].workload("test", seed=1)
    wanted = run_original(queue, name, workload).outputs
    result = run_coarsened(queue, name, chosen, workload)
    assert compare(result.outputs, wanted, workload) == []
    assert not result.violated
