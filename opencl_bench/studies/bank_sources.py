"""The kernels of `bank_model`, in OpenCL C.

`never` is a value that nothing comes to: its store keeps the work alive.
"""

from __future__ import annotations

# ELEMENT, LANES, LENGTH and SUM are macros. Each lane reads its own row, at eight columns in turn, whose places
# are computed before the loop; volatile keeps the reads in it. Fewer columns than eight are read several times.
LOCAL_READS = """
kernel void rows(uint rounds, uint pitch, uint mask, uint columns, global float *sink, float never)
{
    local ELEMENT tile[LENGTH];
    uint own = get_local_id(0), row = own % LANES, start = row * pitch, turn = row & mask;
    for (uint i = own; i < LENGTH; i += get_local_size(0))
        tile[i] = (ELEMENT)(1.0f);
    barrier(CLK_LOCAL_MEM_FENCE);
    volatile local ELEMENT *data = tile + start;
    uint p0 = turn, p1 = (1 % columns) ^ turn, p2 = (2 % columns) ^ turn;
    uint p3 = (3 % columns) ^ turn, p4 = (4 % columns) ^ turn, p5 = (5 % columns) ^ turn;
    uint p6 = (6 % columns) ^ turn, p7 = (7 % columns) ^ turn;
    ELEMENT a = 0.0f, b = 0.0f, c = 0.0f, d = 0.0f;
    for (uint round = 0; round < rounds; round++) {
        a += data[p0];
        b += data[p1];
        c += data[p2];
        d += data[p3];
        a += data[p4];
        b += data[p5];
        c += data[p6];
        d += data[p7];
    }
    a += b + c + d;
    if (SUM(a) == never)
        sink[0] = SUM(a);
}
"""

# Neighbouring work-items copy elements `stride` apart, or each of them a piece of its own.
COPIES = """
kernel void strided(global float *to, global const float *from, uint stride)
{
    ulong place = (ulong)get_global_id(0) * stride;
    to[place] = from[place];
}

kernel void cyclic(global float *to, global const float *from, uint each)
{
    for (uint i = 0; i < each; i++) {
        ulong place = get_global_id(0) + (ulong)i * get_global_size(0);
        to[place] = from[place];
    }
}

kernel void blocked(global float *to, global const float *from, uint each)
{
    for (uint i = 0; i < each; i++) {
        ulong place = (ulong)get_global_id(0) * each + i;
        to[place] = from[place];
    }
}
"""

TILE = 32
TILE_ROWS = 8

# A group of 32 by 8 work-items: a tile of 32 by 32.
COPY = """
kernel void copy(global float *to, global const float *from, uint n)
{
    for (uint row = get_local_id(1); row < 32; row += 8) {
        uint place = (get_group_id(1) * 32 + row) * n + get_group_id(0) * 32 + get_local_id(0);
        to[place] = from[place];
    }
}
"""
NAIVE_TRANSPOSE = """
kernel void transpose(global float *to, global const float *from, uint n)
{
    uint x = get_group_id(0) * 32 + get_local_id(0);
    for (uint row = get_local_id(1); row < 32; row += 8) {
        uint y = get_group_id(1) * 32 + row;
        to[x * n + y] = from[y * n + x];
    }
}
"""
TILED_TRANSPOSE = """
kernel void transpose(global float *to, global const float *from, uint n)
{
    local float tile[32][32];
    uint x = get_local_id(0) & 31, left = get_group_id(0) * 32, top = get_group_id(1) * 32;
    for (uint y = get_local_id(1) & 7; y < 32; y += 8)
        tile[y][x] = from[(top + y) * n + left + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint y = get_local_id(1) & 7; y < 32; y += 8)
        to[(left + y) * n + top + x] = tile[x][y];
}
"""

# A row for each work-item; or 32 rows for a group of 256, of which each adds up an eighth of a row's tile.
DIRECT_PRODUCT = """
kernel void mv(global float *y, global const float *a, global const float *x, uint n)
{
    uint row = get_global_id(0);
    float sum = 0.0f;
    for (uint k = 0; k < n; k++)
        sum += a[(ulong)row * n + k] * x[k];
    y[row] = sum;
}
"""
TILED_PRODUCT = """
kernel void mv(global float *y, global const float *a, global const float *x, uint n)
{
    local float tile[32][128];
    local float sums[256];
    uint own = get_local_id(0) & 255, row = own & 31, part = own >> 5, top = get_group_id(0) * 32;
    float sum = 0.0f;
    for (uint left = 0; left < n; left += 128) {
        for (uint k = own; k < 32 * 128; k += 256)
            tile[(k >> 7) & 31][k & 127] = a[(ulong)(top + (k >> 7)) * n + left + (k & 127)];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < 16; k++)
            sum += tile[row][(part * 16 + k) & 127] * x[left + part * 16 + k];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    sums[own] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (part == 0) {
        for (uint other = 1; other < 8; other++)
            sum += sums[other * 32 + row];
        y[top + row] = sum;
    }
}
"""
PRODUCT_ROWS = 32
PRODUCT_ITEMS = 256
