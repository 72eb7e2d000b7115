"""The second judge's kernels on devices: the reference's results, as they are and coarsened."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import pyopencl as cl
import pytest

from coarsen.opencl_bench.measure.comparison import compare
from coarsen.opencl_bench.measure.run import build_program, kernels_of, run_workload
from coarsen.opencl_bench.workloads.lookup import judge
from coarsen.variant.coarsening import Coarsening, Level
from tests.opencl_bench.workloads.coarsened_run import run_coarsened
from tests.selection import everything_is_asked_for, is_one_of_two

FACTORS = (2, 4)


@pytest.mark.parametrize("name", judge())
def test_the_original_gives_the_reference_results(queue: cl.CommandQueue, name: str) -> None:
    chosen = judge()[name]
    workload = chosen.workload("test")
    result = run_workload(queue, workload, kernels_of(build_program(queue.context, chosen)))
    assert compare(result.outputs, workload.expected(), workload) == []
    assert result.guards_intact


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
    """Return True but for coarsened kernels on half of the compiled devices, by turns, and on an interpreter."""
    if "chosen" not in parameters:
        return True
    index = COARSENINGS.index((parameters["name"], parameters["chosen"]))
    return is_one_of_two(index, parameters["device"])


@pytest.mark.compiled_devices
@pytest.mark.parametrize(("name", "chosen"), COARSENINGS, ids=str)
def test_coarsened_it_gives_the_reference_results(queue: cl.CommandQueue, name: str, chosen: Coarsening) -> None:
    workload = judge()[name].workload("test", seed=1)
    result = run_coarsened(queue, name, chosen, workload)
    assert compare(result.outputs, workload.expected(), workload) == []
    assert result.guards_intact
