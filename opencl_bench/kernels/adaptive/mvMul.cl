/*
 * A height × width matrix, row-major, times a vector.
 *
 * Origin: the task of mvMul in G-ADAPT (Liu, Zhang, Shen, 2009) and of NVIDIA's SDK, oclMatVecMul; written anew.
 * IMPL 0: a work-group for ROWS rows, whose work-items stride through the columns and add up in local memory.
 * IMPL 1: a work-item for ROWS rows that stand a work-group apart.
 * UNROLL: rounds of the loop over columns that are written out (IMPL 0 and 1).
 * IMPL 2: a work-group for one of SPLIT parts of a row; mvMul_finish adds the parts.
 * Threads: 1-D; all rows are guarded. Local memory: a float per work-item and row (IMPL 0 and 2).
 */
#ifndef IMPL
#define IMPL 0
#endif
#ifndef ROWS
#define ROWS 1
#endif
#ifndef SPLIT
#define SPLIT 4
#endif
#ifndef UNROLL
#define UNROLL 1
#endif

/* The sum of what the work-items of a group have in local memory, for a power of two of them; item 0 has it. */
float sum_of_group(local float *sums, float own)
{
    uint item = get_local_id(0);
    sums[item] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
        if (item < half_size)
            sums[item] += sums[item + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return sums[0];
}

kernel void mvMul(global const float *matrix, global const float *vector, uint width, uint height,
                  global float *result, global float *parts, local float *sums)
{
    uint item = get_local_id(0);
    uint items = get_local_size(0);
#if IMPL == 0
    uint first = get_group_id(0) * ROWS;
    float own[ROWS];
    for (uint row = 0; row < ROWS; ++row)
        own[row] = 0.0f;
#pragma unroll UNROLL
    for (uint column = item; column < width; column += items) {
        float factor = vector[column];
        for (uint row = 0; row < ROWS; ++row)
            if (first + row < height)
                own[row] += matrix[(first + row) * width + column] * factor;
    }
    for (uint row = 0; row < ROWS; ++row) {
        float sum = sum_of_group(sums + row * items, own[row]);
        if (item == 0 && first + row < height)
            result[first + row] = sum;
    }
#elif IMPL == 1
    for (uint turn = 0; turn < ROWS; ++turn) {
        uint row = (get_group_id(0) * ROWS + turn) * items + item;
        if (row < height) {
            global const float *elements = matrix + row * width;
            float sum = 0.0f;
#pragma unroll UNROLL
            for (uint column = 0; column < width; ++column)
                sum += elements[column] * vector[column];
            result[row] = sum;
        }
    }
#else
    uint row = get_group_id(0) / SPLIT;
    uint part = get_group_id(0) % SPLIT;
    uint each = (width + SPLIT - 1) / SPLIT;
    uint end = min(width, (part + 1) * each);
    float own = 0.0f;
    for (uint column = part * each + item; column < end; column += items)
        own += matrix[row * width + column] * vector[column];
    float sum = sum_of_group(sums, own);
    if (item == 0)
        parts[get_group_id(0)] = sum;
#endif
}

/* Threads: 1-D, a work-item per row, guarded. */
kernel void mvMul_finish(global const float *parts, uint height, global float *result)
{
    uint row = get_global_id(0);
    if (row < height) {
        float sum = 0.0f;
        for (uint part = 0; part < SPLIT; ++part)
            sum += parts[row * SPLIT + part];
        result[row] = sum;
    }
}
