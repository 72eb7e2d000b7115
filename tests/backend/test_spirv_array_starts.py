"""Builtins that take the start of an array in local or constant memory, through SPIR-V, leave what they leave."""

from __future__ import annotations

import numpy as np
import pyopencl as cl
import pytest
from numpy.typing import NDArray

from coarsen.backend.spirv import write_spirv
from coarsen.devices.building import build_uncached
from coarsen.frontend.lower import lower
from coarsen.pipeline import run_pipeline
from coarsen.variant.data_plan import array_plan
from coarsen.variant.placement import Place
from coarsen.variant.variant import Variant

ITEMS = 16
BODIES = {
    "vload4": "value = vload4(b & 3, whole).y;",
    "vload3_float": "value = vload3(b, number).z;",
    "vload16": "value = vload16(0, whole).s5;",
    "view": "value = vload2(b, (local ushort *)whole).y;",
    "view_of_floats": "value = vload4(b, (local uint *)number).y;",
    "vstore4": "if (l == 0) vstore4((uint4)(1, 2, 3, b), b, whole); barrier(1); value = whole[l];",
    "vload_half": "value = vload_half(b, (local half *)half_number) * 64;",
    "vstore_half": "if (!l) vstore_half(1.5f, b, (local half *)half_number); barrier(1); value = half_number[l];",
    "two": "value = vload2(b, whole).x + vload4(b, whole).w;",
    "rows": "local uint rows[4][8]; rows[l & 3][l / 4] = l; barrier(1); value = vload2(b & 1, rows[0]).y;",
    "chosen": "value = vload4(b, b > 1 ? whole : (local uint *)number).z;",
    "constant": "value = vload4(b & 1, CONSTANT).z;",
    "copy_out": """event_t done = async_work_group_copy(to, whole, 16, 0);
    wait_group_events(1, &done);
    barrier(CLK_GLOBAL_MEM_FENCE);
    value = to[l];""",
    "atomic": "atomic_add(whole, b); barrier(1); value = whole[l];",
}


def source(body: str) -> str:
    return f"""constant uint CONSTANT[8] = {{1, 2, 3, 4, 5, 6, 7, 8}};
kernel void k(global const uint *data, global uint *to, uint b)
{{
    local uint whole[16];
    local float number[16];
    local ushort half_number[16];
    uint l = get_local_id(0), value = 0;
    whole[l] = data[l];
    number[l] = data[l];
    half_number[l] = data[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    {body}
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    to[l] = value;
}}
"""


def left(queue: cl.CommandQueue, code: str | bytes) -> NDArray[np.uint32]:
    """Return what a kernel leaves in `to`."""
    contents = np.random.default_rng(5).integers(1, 2**15, 4 * ITEMS, dtype=np.uint32)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    data, to = (cl.Buffer(queue.context, flags, hostbuf=each) for each in (contents, contents[:ITEMS].copy()))
    kernel = cl.Kernel(build_uncached(queue.context, code, []), "k")
    kernel(queue, (ITEMS,), (ITEMS,), data, to, np.uint32(2))
    found = np.empty(ITEMS, np.uint32)
    cl.enqueue_copy(queue, found, to)
    return found


@pytest.mark.parametrize("name", BODIES)
def test_starts_of_arrays(name: str, spirv_queue: cl.CommandQueue) -> None:
    text = source(BODIES[name])
    np.testing.assert_array_equal(left(spirv_queue, write_spirv(lower(text, "k"))), left(spirv_queue, text))


def test_a_copy_in_local_memory(spirv_queue: cl.CommandQueue) -> None:
    parameters = "global const uint *data, global uint *to, uint b"
    text = f"kernel void k({parameters}) {{ to[get_local_id(0)] = vload4(b, data).y; }}"
    plan = array_plan("data", shape=(4 * ITEMS,), place=Place.LOCAL)
    placed = run_pipeline(lower(text, "k"), Variant(arrays=(plan,)))
    np.testing.assert_array_equal(left(spirv_queue, placed.spirv), left(spirv_queue, text))
