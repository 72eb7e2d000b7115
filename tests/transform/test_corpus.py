"""Kernels in the style of public suites, coarsened: the uncoarsened results, on every device.

Devices and the emitted forms come by turns (`tests/selection.py`).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from coarsen.devices.building import build_uncached
from coarsen.devices.discovery import DeviceDescription
from coarsen.frontend.lower import lower
from coarsen.frontend.options import parse_options
from coarsen.pipeline import CoarsenedKernel
from coarsen.variant.coarsening import Coarsening
from tests.coarsened_kernel import coarsened_with
from tests.frontend.corpus import Launch, assert_same, launches, run
from tests.selection import turns_by
from tests.transform.harness import divided, form_by_turns, is_left_out

LAUNCHES = launches()
COARSENINGS = ((2, 1), (4, 1), (4, 2), (8, 4))
# Kernels whose features a device's own compiler doesn't take, coarsened or not.
BEYOND = {"oclgrind": {"generic_pointers", "image_convolution"}, "pocl": {"generic_pointers"}}


def combinations() -> list[tuple[str, Coarsening]]:
    """Each kernel along each dimension by factors and strides that its local size allows."""
    found = []
    for name, launch in LAUNCHES.items():
        for dimension, (factor, stride) in itertools.product(range(len(launch.local_size)), COARSENINGS):
            size = launch.local_size[dimension]
            if size % factor == 0 and size // factor % stride == 0:
                found.append((name, Coarsening(factor, dimension, stride)))
    return found


@functools.lru_cache(maxsize=128)
def coarsened(name: str, chosen: Coarsening) -> CoarsenedKernel:
    launch = LAUNCHES[name]
    kernel = lower(launch.path, launch.kernel, launch.options)
    return coarsened_with(kernel, [chosen])


@functools.lru_cache(maxsize=64)
def original_results(context: cl.Context, name: str) -> list[np.ndarray[Any, Any]]:
    """What a kernel leaves as it stands in its file."""
    launch = LAUNCHES[name]
    program = build_uncached(context, launch.path.read_text(), [launch.options])
    return run(launch, program, cl.CommandQueue(context))


COMBINATIONS = combinations()
TURNS = turns_by([name for name, _ in COMBINATIONS])


def runs_on(parameters: Mapping[str, Any]) -> bool:
    """Whether the device takes the kernel as it stands in its file, and the combination is for it."""
    kernel, device = LAUNCHES[parameters["name"]].path.stem, parameters["device"]
    turn = TURNS[COMBINATIONS.index((parameters["name"], parameters["chosen"]))]
    return not is_left_out(device, turn, functools.partial(takes, kernel))


def takes(kernel: str, device: DeviceDescription) -> bool:
    """Return True if a device takes a kernel as it stands in its file."""
    return not any(device.runs_on(part) and kernel in kernels for part, kernels in BEYOND.items())


@pytest.mark.parametrize(("name", "chosen"), COMBINATIONS, ids=lambda value: str(value).replace(" ", "_"))
def test_same_results(name: str, chosen: Coarsening, device: DeviceDescription, queue: cl.CommandQueue) -> None:
    launch = LAUNCHES[name]
    original = original_results(queue.context, name)
    smaller = replace(
        launch,
        global_size=divided(launch.global_size, (chosen,)),
        local_size=divided(launch.local_size, (chosen,)),
    )
    form = form_by_turns(device, TURNS[COMBINATIONS.index((name, chosen))])
    program = build(queue.context, coarsened(name, chosen), form, launch)
    assert_same(original, run(smaller, program, queue), launch)


def build(context: cl.Context, kernel: CoarsenedKernel, form: str, launch: Launch) -> cl.Program:
    """The coarsened kernel on a device."""
    rest = parse_options(launch.options).device_options
    if form == "opencl_c":
        return build_uncached(context, kernel.opencl_c, [kernel.opencl_c_standard, *rest])
    return build_uncached(context, kernel.spirv, rest)
