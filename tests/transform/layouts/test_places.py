"""Kernels that read an argument's array from another memory leave what they leave as written, on each device.

Devices and forms of output come by turns (`tests/selection.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from numpy.typing import NDArray

from coarsen.devices.discovery import DeviceDescription
from coarsen.pipeline import laid_out, run_pipeline
from coarsen.variant.coarsening import Coarsening, Configuration, Level
from coarsen.variant.data_plan import array_plans
from coarsen.variant.variant import Variant
from tests.transform.cases import Case, floats, integers, zeros
from tests.transform.harness import (
    assert_same,
    coarsened_outcome,
    form_by_turns,
    lowered,
    original_outcome,
    turns_of,
)

FILTER = """
kernel void k(global const float *from, global float *to, global const float *weights, int n)
{
    int x = get_global_id(0);
    if (x >= n) return;
    float sum = 0;
    for (int i = 0; i < 5; ++i) sum += from[(x + i) % n] * weights[i];
    to[x] = sum + weights[x % 9] + vload4(1, weights + (x & 1)).z;
}
"""

TABLE = """
typedef struct { float weight; uchar tag; short kind; int more[2]; } Record;
kernel void k(global const int *from, global int *to, global const Record *table)
{
    int x = get_global_id(1) * get_global_size(0) + get_global_id(0);
    Record mine = table[from[x] % 7];
    global const Record *other = &table[x % 7];
    to[x] = mine.weight + mine.tag * 3 + other->kind + other->more[from[x] & 1];
}
"""

SHARED = """
kernel void k(global const int *from, global int *to, global const int3 *table)
{
    local int sums[16];
    int x = get_local_id(0);
    sums[x] = from[get_global_id(0)] + table[x % 3].y;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (from[get_group_id(0)] & 1) {
        sums[x] += table[from[x] % 3].z;
    }
    to[get_global_id(0)] = sums[x] * table[(x + 1) % 3].x;
}
"""

RECORD = np.dtype([("weight", "f4"), ("tag", "u1"), ("kind", "i2"), ("more", "i4", 2)], align=True)


@dataclass(frozen=True)
class PlacedKernel:
    """A kernel's launch, the array that is placed, and how many elements it has."""

    case: Case
    array: str
    count: int


def records(rng: np.random.Generator) -> NDArray[Any]:
    made = np.zeros(7, RECORD)
    made["weight"], made["tag"], made["kind"] = np.arange(7) + 100, np.arange(7) + 30, np.arange(7) - 9
    made["more"] = rng.integers(0, 50, (7, 2))
    return made


KERNELS = (
    PlacedKernel(
        Case(
            "k",
            (128,),
            (16,),
            lambda rng, n: [floats(rng, n), np.zeros(n, np.float32), floats(rng, 9), np.int32(n - 5)],
            text=FILTER,
            tolerance=1e-6,
        ),
        "weights",
        9,
    ),
    PlacedKernel(
        Case("k", (32, 4), (4, 2), lambda rng, n: [integers(rng, n), zeros(n), records(rng)], text=TABLE),
        "table",
        7,
    ),
    PlacedKernel(
        Case("k", (96,), (16,), lambda rng, n: [integers(rng, n), zeros(n), integers(rng, 12)], text=SHARED),
        "table",
        3,
    ),
)
PLACES = ("constant", "noncoherent", "local")
CONFIGURATIONS: tuple[Configuration, ...] = ((), (Coarsening(4),), (Coarsening(2, level=Level.GROUP),))
COMBINATIONS = [(kernel, place) for kernel in KERNELS for place in PLACES]


def runs_on(parameters: Mapping[str, Any]) -> bool:
    """Return True if any of the configurations is for the device."""
    number = COMBINATIONS.index((parameters["kernel"], parameters["place"]))
    return bool(turns_of(parameters["device"], number, len(CONFIGURATIONS)))


@pytest.mark.parametrize(
    ("kernel", "place"),
    COMBINATIONS,
    ids=[f"{kernel.array}{kernel.count}-{place}" for kernel, place in COMBINATIONS],
)
def test_places(queue: cl.CommandQueue, device: DeviceDescription, kernel: PlacedKernel, place: str) -> None:
    number = COMBINATIONS.index((kernel, place))
    original = original_outcome(queue.context, kernel.case)
    shapes = [f"{kernel.array}={kernel.count}"]
    plans = array_plans((), (), shapes, [f"{kernel.array}={place}"])
    laid = laid_out(lowered(kernel.case), plans)
    assert [each.apart_from for each in laid.placed] == [("to",)]
    for which, turn in turns_of(device, number, len(CONFIGURATIONS)).items():
        chosen = CONFIGURATIONS[which]
        result = run_pipeline(laid.kernel, Variant(coarsenings=chosen))
        form = form_by_turns(device, turn)
        assert_same(original, coarsened_outcome(queue, result, form, kernel.case, chosen), kernel.case.tolerance)
