"""A few of the ways in which arrays of kernels on records may lie, other ones for each kernel and device.

`make test` runs each kernel on one of the devices. All ways: `python -m tests.record_layouts`.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.opencl_bench.workloads.lookup import records
from coarsen.runtime.layout import Layout
from coarsen.variant.data_layout import ArrayLayout, Order
from tests.record_layouts.combinations import combinations
from tests.record_layouts.independent_packing import packed_by_formula
from tests.record_layouts.runs import Ending, arrays_of, bench_on, run, run_as_written
from tests.selection import everything_is_asked_for, takes_turn
from tests.transform.layouts.record_kernels import BODY, FULL
from tests.working_devices import devices_that_work

NAMES = tuple(records())
DEVICES = ("intel", "pocl", "oclgrind")
# Of about forty ways times two factors; Oclgrind interprets.
FEW, MORE = 1, 2


def runs_on(parameters: Mapping[str, Any]) -> bool:
    """Return True for a kernel on each device, or for `make test` on one of them, by turns."""
    return takes_turn(NAMES.index(parameters["name"]), parameters["device"])


@pytest.mark.parametrize("name", NAMES)
def test_other_layouts_give_the_same(name: str, device: DeviceDescription) -> None:
    every = list(combinations(name, arrays_of(name)))
    turn = next((place for place, text in enumerate(DEVICES) if device.is_called(text)), 0)
    count = MORE if everything_is_asked_for() and not device.is_called("oclgrind") else FEW
    step = len(every) // count
    # An odd distance meets both factors.
    chosen = list(itertools.islice(every, (5 * NAMES.index(name) + 3 * turn) % step, None, step | 1))
    with bench_on(device) as bench:
        as_written = run_as_written(bench, name)
        for combination in chosen:
            result = run(bench, combination, as_written)
            assert result.ending is not Ending.WRONG, f"{combination}: {result.detail}"


def test_refusals_have_codes() -> None:
    name = "records-bitonic_local"
    with bench_on(next(iter(_devices()))) as bench:
        as_written = run_as_written(bench, name)
        every = list(combinations(name, arrays_of(name)))
        codes = {run(bench, each, as_written).detail for each in (every[0], every[-1])}
    assert codes == {"layout-same-buffer", "place-not-read-only"}


def _devices() -> tuple[DeviceDescription, ...]:
    return tuple(device for device in devices_that_work() if not device.is_called("oclgrind"))


@pytest.mark.parametrize("layout", ["aos", "soa", "aosoa:1", "aosoa:3", "aosoa:32"])
@pytest.mark.parametrize("shape", [(1,), (31,), (33,), (5, 7), (3, 4, 5)])
def test_packing_is_that_of_the_formulas(layout: str, shape: tuple[int, ...]) -> None:
    draw = np.random.default_rng(1)
    for dtype in (BODY, FULL, np.dtype("f4")):
        host = draw.integers(0, 256, (*shape, dtype.itemsize), np.uint8).view(dtype).reshape(shape)
        order = Order(tuple(reversed(range(len(shape)))))
        chosen = Layout(dtype, ArrayLayout.parse(layout), order)
        if not chosen.arrangement(shape).is_as_written:
            formula = packed_by_formula(host, chosen.plan("a"))
            packed = chosen.pack(host)
            is_padding = packed != formula
            # An array of structures keeps the padding of its elements, which is none of their fields.
            assert layout == "aos" or not is_padding.any()
            np.testing.assert_array_equal(chosen.unpack(formula, shape), chosen.unpack(packed, shape))
