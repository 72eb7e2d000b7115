/*
 * A sparse matrix in compressed rows times a vector.
 *
 * Origin: written for this suite, after Bell and Garland, "Implementing sparse matrix-vector multiplication on
 * throughput-oriented processors", 2009 (scalar and vector kernels).
 * IMPL 0: a work-item for each row.
 * IMPL 1: LANES work-items for each row, which add up in local memory.
 * IMPL 2: each work-item has ENTRIES entries, wherever rows start; what belongs to a row that started in another
 *         item's part is carried, and spmvCsr_finish adds it to the row.
 * Threads: 1-D, guarded. Local memory: a float per work-item (IMPL 1).
 */
#ifndef IMPL
#define IMPL 0
#endif
#ifndef LANES
#define LANES 8
#endif
#ifndef ENTRIES
#define ENTRIES 32
#endif
#define NO_ROW 0xffffffffu

float sum_of_entries(global const int *columns, global const float *values, global const float *vector,
                     uint start, uint end)
{
    float sum = 0.0f;
    for (uint entry = start; entry < end; ++entry)
        sum += values[entry] * vector[columns[entry]];
    return sum;
}

kernel void spmvCsr(global const int *starts, global const int *columns, global const float *values,
                    global const float *vector, uint rows, uint entries, global float *result,
                    global uint *carried_rows, global float *carried, local float *sums)
{
#if IMPL == 0
    uint row = get_global_id(0);
    if (row < rows)
        result[row] = sum_of_entries(columns, values, vector, starts[row], starts[row + 1]);
#elif IMPL == 1
    uint item = get_local_id(0);
    uint row = get_global_id(0) / LANES;
    uint lane = item % LANES;
    float own = 0.0f;
    if (row < rows)
        for (uint entry = starts[row] + lane; entry < starts[row + 1]; entry += LANES)
            own += values[entry] * vector[columns[entry]];
    sums[item] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_size = LANES / 2; half_size > 0; half_size /= 2) {
        if (lane < half_size)
            sums[item] += sums[item + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0 && row < rows)
        result[row] = sums[item];
#else
    uint item = get_global_id(0);
    uint first = item * ENTRIES;
    if (item > 0 && first >= entries)
        return;
    uint end = min(first + ENTRIES, entries);
    uint row = 0;
    uint beyond = rows;
    while (row < beyond) { /* the first row that starts here or later */
        uint middle = (row + beyond) / 2;
        if (starts[middle] < first)
            row = middle + 1;
        else
            beyond = middle;
    }
    uint own_start = min((uint)starts[row], end);
    carried[item] = sum_of_entries(columns, values, vector, first, own_start);
    carried_rows[item] = own_start > first ? row - 1 : NO_ROW;
    /* The last item has the empty rows at the end as well. */
    for (; row < rows && (starts[row] < end || end == entries); ++row)
        result[row] = sum_of_entries(columns, values, vector, starts[row], min((uint)starts[row + 1], end));
#endif
}

/* Threads: 1-D, an item for each of the others; the first that carries something for a row adds all of it. */
kernel void spmvCsr_finish(global const uint *carried_rows, global const float *carried, uint entries,
                           global float *result)
{
    uint item = get_global_id(0);
    uint items = (entries + ENTRIES - 1) / ENTRIES;
    if (item >= items)
        return;
    uint row = carried_rows[item];
    if (row == NO_ROW || (item > 0 && carried_rows[item - 1] == row))
        return;
    float sum = 0.0f;
    for (uint other = item; other < items && carried_rows[other] == row; ++other)
        sum += carried[other];
    result[row] += sum;
}
