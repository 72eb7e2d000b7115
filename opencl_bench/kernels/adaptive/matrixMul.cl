/*
 * The product of a height × inner matrix and an inner × width one, all row-major.
 *
 * Origin: the task of matrixMul in G-ADAPT (Liu, Zhang, Shen, 2009) and of NVIDIA's SDK, oclMatrixMul; written anew.
 * IMPL 0: tiles of TILE × TILE of both in local memory; a work-group of TILE × TILE / MICRO, each work-item MICRO
 *         elements of a column of the tile.
 * IMPL 1: an element for each work-item, from global memory.
 * IMPL 2: as 1 for one of SPLIT parts of the sum; matrixMul_finish adds the parts.
 * Threads: 2-D (IMPL 2: 3-D), guarded; dimension 0 is the column, 1 the row, 2 the part of the sum.
 */
#ifndef IMPL
#define IMPL 0
#endif
#ifndef TILE
#define TILE 16
#endif
#ifndef MICRO
#define MICRO 1
#endif
#ifndef SPLIT
#define SPLIT 4
#endif

kernel void matrixMul(global const float *left, global const float *right, uint height, uint width, uint inner,
                      global float *product, global float *parts)
{
#if IMPL == 0
    local float left_tile[TILE][TILE];
    local float right_tile[TILE][TILE];
    uint x = get_local_id(0);
    uint y = get_local_id(1);
    uint column = get_group_id(0) * TILE + x;
    uint first_row = get_group_id(1) * TILE;
    float sums[MICRO];
    for (uint turn = 0; turn < MICRO; ++turn)
        sums[turn] = 0.0f;
    for (uint start = 0; start < inner; start += TILE) {
        for (uint turn = 0; turn < MICRO; ++turn) {
            uint row = y + turn * (TILE / MICRO);
            left_tile[row][x] = first_row + row < height && start + x < inner
                              ? left[(first_row + row) * inner + start + x] : 0.0f;
            right_tile[row][x] = start + row < inner && column < width
                               ? right[(start + row) * width + column] : 0.0f;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < TILE; ++k)
            for (uint turn = 0; turn < MICRO; ++turn)
                sums[turn] += left_tile[y + turn * (TILE / MICRO)][k] * right_tile[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint turn = 0; turn < MICRO; ++turn) {
        uint row = first_row + y + turn * (TILE / MICRO);
        if (row < height && column < width)
            product[row * width + column] = sums[turn];
    }
#else
    uint column = get_global_id(0);
    uint row = get_global_id(1);
    if (column < width && row < height) {
        uint start = 0;
        uint end = inner;
        global float *sums = product;
#if IMPL == 2
        uint each = (inner + SPLIT - 1) / SPLIT;
        start = get_global_id(2) * each;
        end = min(inner, start + each);
        sums = parts + get_global_id(2) * height * width;
#endif
        float sum = 0.0f;
        for (uint k = start; k < end; ++k)
            sum += left[row * inner + k] * right[k * width + column];
        sums[row * width + column] = sum;
    }
#endif
}

/* Threads: 1-D, a work-item per element, guarded. */
kernel void matrixMul_finish(global const float *parts, uint elements, global float *product)
{
    uint element = get_global_id(0);
    if (element < elements) {
        float sum = 0.0f;
        for (uint part = 0; part < SPLIT; ++part)
            sum += parts[part * elements + element];
        product[element] = sum;
    }
}
