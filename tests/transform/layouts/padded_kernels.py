"""Kernels with static arrays of rows in local memory, and the pads that each can have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coarsen.variant.data_plan import ArrayPlan, array_plans
from tests.transform.cases import Case, floats, integers, zeros


@dataclass(frozen=True)
class PaddedKernel:
    """A kernel's launch, and plans that its arrays can have, as texts of `--pad` and `--shape`."""

    case: Case
    pads: tuple[tuple[str, ...], ...]
    shapes: tuple[str, ...] = ()

    def plans(self, pads: tuple[str, ...]) -> tuple[ArrayPlan, ...]:
        """Return the plans of some pads."""
        named = {pad.partition("=")[0] for pad in pads}
        shapes = [shape for shape in self.shapes if shape.partition("=")[0] in named]
        return array_plans((), (), shapes, (), pads)


TRANSPOSE = """
kernel void k(global const float *from, global float *to)
{
    local float tile[8][16];
    int x = get_local_id(0), y = get_local_id(1);
    size_t at = get_global_id(1) * get_global_size(0) + get_global_id(0);
    for (int r = 0; r < 2; ++r) tile[y + 4 * r][x] = from[at] + r;
    barrier(CLK_LOCAL_MEM_FENCE);
    int place = (y * 16 + x);
    to[at] = tile[place % 8][place / 8 + 8] - tile[(place / 16)][15 - x] * tile[7][x];
}
"""

FLAT = """
kernel void k(global const float *from, global float *to)
{
    local float tile[256], twice[2 * 256];
    int x = get_local_id(0), y = get_local_id(1);
    size_t at = get_global_id(1) * get_global_size(0) + get_global_id(0);
    tile[y * 16 + x] = from[at];
    twice[(y * 2 + 1) * 16 + x] = twice[y * 2 * 16 + x] = from[at] * 3;
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0;
    for (int k = 0; k < 16; ++k) sum += tile[k * 16 + x] * twice[x * 32 + k + y] - tile[(x << 4 | k) ^ y];
    to[at] = tile[x * 16 + y] + sum;
}
"""

COUNTS = """
kernel void k(global const int *from, global int *to)
{
    local int counts[2][4][5];
    int x = get_local_id(0);
    local int *flat = &counts[0][0][0];
    for (int i = x; i < 40; i += get_local_size(0)) flat[i] = i % 3;
    barrier(CLK_LOCAL_MEM_FENCE);
    int found = from[get_global_id(0)] & 31;
    atomic_add(&counts[found >> 4][(found >> 2) & 3][found & 3], x + 1);
    atomic_inc(&counts[1][2][4]);
    barrier(CLK_LOCAL_MEM_FENCE);
    local int (*row)[5] = counts[x & 1];
    to[get_global_id(0)] = row[x & 3][x % 5] + flat[39 - x] + (row + 1)[2][-1];
}
"""

RECORDS = """
typedef struct { float weight; uchar tag; short kind; } Record;
kernel void k(global const float *from, global float *to)
{
    local Record records[4][8];
    local float4 vectors[4][4];
    int x = get_local_id(0);
    Record mine = {from[get_global_id(0)], x, x * 3};
    records[x % 4][x / 4] = mine;
    if (x < 16) vectors[x / 4][x & 3] = (float4)(x, mine.weight, 1, 2);
    barrier(CLK_LOCAL_MEM_FENCE);
    records[x / 8][x % 8].kind += 7;
    if (x < 16) vectors[x & 3][x / 4].z += x;
    barrier(CLK_LOCAL_MEM_FENCE);
    Record other = records[3 - x / 8][7 - x % 8];
    to[get_global_id(0)] = other.weight + other.tag * 2 + other.kind + vectors[x & 3][x / 8].z;
}
"""

VECTORS = """
kernel void k(global const float *from, global float *to)
{
    local float flat[128] __attribute__((aligned(16)));
    local float other[8][16];
    int x = get_local_id(0);
    for (int i = 0; i < 4; ++i) flat[x * 4 + i] = from[get_global_id(0)] * i;
    vstore4((float4)(x, 1, 2, 3), x & 3, &other[x >> 2][0]);
    barrier(CLK_LOCAL_MEM_FENCE);
    float4 quad = *(local float4 *)&flat[4 * (31 - x)] + vload4(x & 3, other[x / 4]);
    float2 pair = vload2(x, flat + 64 * (x < 16));
    to[get_global_id(0)] = quad.x + quad.y * quad.z - quad.w + pair.x * pair.y;
}
"""

DOUBLES = """
kernel void k(global const int *from, global int *to)
{
    local long wide[4][8];
    local uchar bytes[4][64];
    int x = get_local_id(0);
    wide[x >> 3][x & 7] = from[get_global_id(0)] * 5000000000L;
    for (int i = 0; i < 8; ++i) bytes[i % 4][x * 2 + i / 4] = x + i;
    barrier(CLK_LOCAL_MEM_FENCE);
    to[get_global_id(0)] = (int)(wide[x & 3][x >> 2] >> 20) + bytes[x & 3][63 - x] * bytes[3][x + 7];
}
"""

PADDED_KERNELS = (
    PaddedKernel(
        Case("k", (64, 8), (16, 4), lambda rng, n: [floats(rng, n), np.zeros(n, np.float32)], text=TRANSPOSE),
        (("tile=1",), ("tile=xor",), ("tile=7",)),
    ),
    PaddedKernel(
        Case("k", (32, 32), (16, 16), lambda rng, n: [floats(rng, n), np.zeros(n, np.float32)], text=FLAT),
        (("tile=1",), ("tile=xor",)),
    ),
    PaddedKernel(
        Case("k", (96,), (24,), lambda rng, n: [integers(rng, n), zeros(n)], text=COUNTS),
        (("counts=1",), ("counts=4",)),
    ),
    PaddedKernel(
        Case("k", (128,), (32,), lambda rng, n: [floats(rng, n), np.zeros(n, np.float32)], text=RECORDS),
        (("records=1", "vectors=1"), ("records=xor", "vectors=xor"), ("vectors=3",)),
    ),
    PaddedKernel(
        Case("k", (128,), (32,), lambda rng, n: [floats(rng, n), np.zeros(n, np.float32)], text=VECTORS),
        (("flat=4", "other=1"), ("flat=xor", "other=xor"), ("flat=8",)),
        ("flat=8,16",),
    ),
    PaddedKernel(
        Case("k", (128,), (32,), lambda rng, n: [integers(rng, n), zeros(n)], text=DOUBLES),
        (("wide=1", "bytes=4"), ("wide=xor", "bytes=xor"), ("bytes=1",)),
    ),
)
