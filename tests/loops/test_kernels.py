"""The kernels of the thirteen nests compute what the C functions do: bit for bit, at sizes that divide nothing."""

from __future__ import annotations

import functools
import re
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from numpy.typing import NDArray

from coarsen.devices.discovery import DeviceDescription
from tests.loops.nests import NESTS
from tests.loops.ran import Made, element_type, make, run_natively, run_on
from tests.loops.test_nests import spelled
from tests.oclgrind.watch import Findings, watching

# Cosine and sine differ from C's by some units in the last place, which sums of a few terms near 1 keep.
INEXACT = {"mri_q": 1e-5, "mri_fhd": 1e-5}
SIZES = (1, 2, 7, 13)
_INSIDE = tempfile.TemporaryDirectory()


def runs_on(parameters: Mapping[str, object]) -> bool:
    """Oclgrind looks for races and accesses beside arrays; the others compare results."""
    device = parameters.get("device")
    is_simulator = isinstance(device, DeviceDescription) and device.is_called("oclgrind")
    return is_simulator == ("spelling" not in parameters)


@functools.cache
def made(name: str, spelling: str) -> Made:
    folder = Path(_INSIDE.name, f"{name}_{spelling}")
    folder.mkdir(exist_ok=True)
    return make(spelled(name, spelling), folder)


def inputs(found: Made, name: str, size: int) -> tuple[dict[str, float], dict[str, NDArray[Any]]]:
    """The numbers and the arrays of a nest, by the nest's names: each size a bit larger than the one before."""
    own = NESTS[name]
    sizes = {each: size + place for place, each in enumerate(own.sizes.split())}
    given = {**sizes, **{each: 1.25 + place for place, each in enumerate(own.numbers.split())}}
    numbers = {key: given[text.split("->")[-1]] for key, text in found.nest.spelled.items()}
    random = np.random.default_rng(size)
    arrays = {}
    for array in found.nest.arrays.values():
        if not array.is_scalar:
            plain = re.sub(r".*->|_$", "", array.spelled)
            shape = [sizes[extent] for extent in own.arrays[plain].split()]
            arrays[array.name] = random.random(shape).astype(element_type(found, array.name))
    return numbers, arrays


# The other spellings are the same nests (`test_nests.py`); kernels of some of them are run as well.
OTHERS = [("tmv", "flat"), ("mri_fhd", "flat"), ("mvt", "macros"), ("syrk", "macros")]


@pytest.mark.parametrize(("name", "spelling"), [*((name, "vla") for name in NESTS), *OTHERS])
def test_kernels_compute_what_the_function_does(name: str, spelling: str, queue: cl.CommandQueue) -> None:
    found = made(name, spelling)
    kernels = found.build(queue.context)
    for size in SIZES:
        numbers, arrays = inputs(found, name, size)
        expected = run_natively(found, numbers, arrays)
        after = run_on(queue, kernels, found, numbers, arrays)
        for array in found.given:
            if name in INEXACT:
                np.testing.assert_allclose(after[array], expected[array], rtol=0, atol=INEXACT[name] * (size + 1))
            else:
                np.testing.assert_array_equal(after[array], expected[array], f"{array} at {size}")


def findings(found: Made, name: str, device: DeviceDescription) -> Findings:
    """What Oclgrind finds in the launches of a nest, in buffers that end with their arrays."""
    with watching(device) as watched:
        kernels = found.build(watched.context)
        for size in (2, 5):
            run_on(watched.queue, kernels, found, *inputs(found, name, size), is_guarded=False)
        return watched.findings()


@pytest.mark.parametrize("name", NESTS)
def test_nothing_is_found_by_a_simulator(name: str, device: DeviceDescription) -> None:
    assert not findings(made(name, "vla"), name, device)


@pytest.mark.parametrize(
    ("name", "right", "wrong", "message"),
    [
        ("mm", "k * m + j", "k * m + j + 1", "Invalid"),
        ("mv", "x[i] = x_value", "x[0] = x_value", "race"),
    ],
)
def test_a_mistake_is_found_by_a_simulator(
    name: str, right: str, wrong: str, message: str, device: DeviceDescription
) -> None:
    found = made(name, "vla")
    kernels = tuple(replace(each, text=each.text.replace(right, wrong)) for each in found.kernels)
    assert kernels != found.kernels
    seen = findings(replace(found, kernels=kernels), name, device)
    assert any(message in each for each in seen)
