"""Each hazard of merging work-items: the coarsened kernel gives what the original gives, on every device.

Kernels, factors and strides are combined as a pairwise cover of all of them does it; devices and the emitted forms
come by turns (`tests/selection.py`).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.variant.coarsening import Coarsening, Configuration, configuration
from tests.selection import turns_by
from tests.transform.cases import CASES, Case, integers, zeros
from tests.transform.harness import (
    assert_same,
    coarsened,
    coarsened_outcome,
    configurations,
    form_by_turns,
    forms,
    is_left_out,
    original_outcome,
)
from tests.transform.pairwise import pairwise_cover


def chosen_keys() -> list[tuple[Case, Configuration]]:
    """A pairwise cover of cases, each along each dimension, with their factors and strides."""
    everything = [
        (case, chosen)
        for case in CASES
        for dimension in case.dimensions
        for chosen in configurations(case, dimension)
    ]
    return pairwise_cover(everything, values_of)


def values_of(key: tuple[Case, Configuration]) -> tuple[Hashable, ...]:
    """The case with the dimension, the factor, and which stride it is."""
    case, (coarsening,) = key
    rest = case.local_size[coarsening.dimension] // coarsening.factor
    stride = "whole" if coarsening.stride == rest else coarsening.stride
    return (case.name, coarsening.dimension), coarsening.factor, stride


_CHOSEN = chosen_keys()
COMBINATIONS = [
    pytest.param(case, chosen, id=f"{case.name}-{'-'.join(map(str, chosen))}".replace(" ", "_"))
    for case, chosen in _CHOSEN
]
PARITY = Case(
    "group_parity",
    (64, 8, 8),
    (4, 4, 4),
    lambda rng, n: [integers(rng, 4 * n), zeros(n // 64), np.uint32(64), np.uint32(8), np.uint32(3)],
)
_KEYS = [(case.name, chosen) for case, chosen in _CHOSEN]
TURNS = dict(zip(_KEYS, turns_by([name for name, _ in _KEYS]), strict=True))
SEVERAL_DIMENSIONS = [pytest.param(case, id=case.name) for case in CASES if len(case.dimensions) > 1]


@pytest.mark.parametrize(("case", "chosen"), COMBINATIONS)
def test_same_results(
    case: Case, chosen: Configuration, device: DeviceDescription, queue: cl.CommandQueue
) -> None:
    check(case, chosen, (form_by_turns(device, TURNS[case.name, chosen]),), queue)


@pytest.mark.parametrize("case", SEVERAL_DIMENSIONS)
def test_several_dimensions_at_once(case: Case, device: DeviceDescription, queue: cl.CommandQueue) -> None:
    chosen = configuration(
        Coarsening(2, dimension, 1 if dimension else 2)
        for dimension in case.dimensions
        if case.local_size[dimension] % 4 == 0 or dimension
        if case.local_size[dimension] % 2 == 0
    )
    check(case, chosen, forms(device), queue)


@pytest.mark.parametrize(("case", "second"), [(PARITY, 1), (PARITY, 2)])
def test_strides_along_two_dimensions(
    case: Case, second: int, device: DeviceDescription, queue: cl.CommandQueue
) -> None:
    # Intel's runtime computed wrong results from ids that were made with a remainder along both.
    chosen = configuration([Coarsening(2, 0, 2), Coarsening(2, second, 2)])
    check(case, chosen, forms(device), queue)


def check(case: Case, chosen: Configuration, tried: tuple[str, ...], queue: cl.CommandQueue) -> None:
    original = original_outcome(queue.context, case)
    for form in tried:
        outcome = coarsened_outcome(queue, coarsened(case, chosen), form, case, chosen)
        assert_same(original, outcome, case.tolerance)


def runs_on(parameters: Mapping[str, Any]) -> bool:
    """Whether the original kernel runs, and runs right, on the device, and the combination is for it."""
    case, device = parameters["case"], parameters["device"]
    if "chosen" in parameters:
        return not is_left_out(device, TURNS[case.name, parameters["chosen"]], partial(works_on, case))
    return works_on(case, device)


def works_on(case: Case, device: DeviceDescription) -> bool:
    """Whether the original kernel runs, and runs right, on the device."""
    if case.wrong_on and device.runs_on(case.wrong_on):
        return False
    return not (case.needs and device.is_called("oclgrind"))
