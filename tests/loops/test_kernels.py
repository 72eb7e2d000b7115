"""The kernels of the thirteen nests compute what the C functions do: bit for bit, at sizes that divide nothing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from numpy.typing import NDArray

from coarsen.devices.building import build_uncached  # noqa: F401
from coarsen.devices.discovery import DeviceDescription
from tests.loops.nests import NESTS
from tests.loops.ran import Made, element_type, make, run_natively, run_on
from tests.loops.test_nests import SPELLINGS, spelled

# What the devices' cosine and sine differ by, in units of 1.
ERRORS = {"mri_q": 1e-5, "mri_fhd": 1e-5}
SIZES = (1, 2, 3, 7, 13)


def inputs(made: Made, name: str, size: int) -> tuple[dict[str, float], dict[str, NDArray[Any]]]:
    """The numbers and the arrays of a nest, by the nest's names: each size a bit larger than the one before."""
    own = NESTS[name]
    sizes = {each: size + place for place, each in enumerate(own.sizes.split())}
    given = {**sizes, **{each: 1.25 + place for place, each in enumerate(own.numbers.split())}}
    numbers = {key: given[text.split("->")[-1]] for key, text in made.nest.spelled.items()}
    random = np.random.default_rng(size)
    arrays = {}
    for array in made.nest.arrays.values():
        plain = re.sub(r".*->|_$", "", array.spelled)
        if not array.is_scalar:
            shape = [sizes[extent] for extent in own.arrays[plain].split()]
            arrays[array.name] = random.random(shape).astype(element_type(made, array.name))
    return numbers, arrays
