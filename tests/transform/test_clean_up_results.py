"""Merged loads see what the replicas' own would have: integer kernels, cleaned up and not, on every device."""

from __future__ import annotations

import numpy as np
import pyopencl as cl
import pytest
from numpy.typing import NDArray

from coarsen.devices.building import build_uncached
from coarsen.frontend.lower import lower
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import DEFAULT, REPLICATION_ALONE, Transforms
from tests.coarsened_kernel import coarsened_with
from tests.transform.harness import workaround

GLOBAL, LOCAL = (64, 32), (16, 16)
# Signed indices, neighbours shared between replicas, the same places before and after barriers and stores.
SOURCE = """
kernel void blurred(global const int *in, global int *out, volatile global int *seen, int width, int height)
{
    local int tile[16][16];
    int x = get_global_id(0), y = get_global_id(1);
    int column = get_local_id(0), row = get_local_id(1);
    int centre = y * width + x;
    tile[row][column] = in[centre];
    barrier(CLK_LOCAL_MEM_FENCE);
    int before = tile[row][(column + 1) % 16] + 3 * tile[(row + 1) % 16][column];
    barrier(CLK_LOCAL_MEM_FENCE);
    tile[row][column] = before ^ x;
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = before + 5 * tile[row][(column + 1) % 16] + 7 * tile[(row + 1) % 16][column];
    atomic_add(&seen[centre], 1);
    atomic_add(&seen[centre], 2);
    out[centre] = seen[centre] + seen[centre];
    if (x > 0 && x < width - 1 && y > 0 && y < height - 1)
        for (int j = -1; j <= 1; ++j)
            sum += in[centre + j * width - 1] * 2 + in[centre + j * width] + in[centre + j * width + 1] * 3;
    out[centre] += sum;
}
"""

# Builtins that store through a pointer, between loads of the same places.
WRITING = """
kernel void blurred(global const int *in, global int *out, volatile global int *seen, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1), centre = y * width + x;
    int pair[2];
    vstore2((int2)(in[centre], x), 0, pair);
    int first = pair[0] + pair[1];
    vstore2((int2)(y, in[centre]), 0, pair);
    float whole;
    float part = modf(in[centre] * 0.25f, &whole);
    int sum = first + 3 * pair[0] + 5 * (int)whole;
    part += modf(x * 0.5f, &whole);
    out[centre] = sum + 7 * (int)whole + (int)(part * 4);
}
"""


def run(queue: cl.CommandQueue, program: cl.Program, sizes: tuple[tuple[int, ...], tuple[int, ...]]) -> bytes:
    """What the kernel leaves behind."""
    width, height = GLOBAL
    values: NDArray[np.int32] = np.random.default_rng(3).integers(-1000, 1000, width * height, dtype=np.int32)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(queue.context, flags, hostbuf=array) for array in (values, 0 * values, 0 * values)]
    kernel = cl.Kernel(program, "blurred")
    kernel(queue, *sizes, *buffers, np.int32(width), np.int32(height))
    result = np.empty_like(values)
    cl.enqueue_copy(queue, result, buffers[1])
    return result.tobytes()


@pytest.mark.parametrize("transforms", [DEFAULT, REPLICATION_ALONE], ids=["cleaned", "alone"])
@pytest.mark.parametrize(("dimension", "stride"), [(0, 1), (1, 2)])
@pytest.mark.parametrize("source", [SOURCE, WRITING], ids=["loads", "builtins that write"])
def test_the_same_is_computed(
    queue: cl.CommandQueue, source: str, dimension: int, stride: int, transforms: Transforms
) -> None:
    chosen = Coarsening(4, dimension, stride)
    coarsened = coarsened_with(lower(source), [chosen], transforms=transforms)
    options = workaround(queue.context)
    original = build_uncached(queue.context, source, options)
    program = build_uncached(queue.context, coarsened.opencl_c, [coarsened.opencl_c_standard, *options])
    smaller = [tuple(s // 4 if d == dimension else s for d, s in enumerate(size)) for size in (GLOBAL, LOCAL)]
    assert run(queue, program, (smaller[0], smaller[1])) == run(queue, original, (GLOBAL, LOCAL))
