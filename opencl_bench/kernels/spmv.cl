/*
 * Sparse matrix times vector, the matrix in the transposed jagged diagonal storage (JDS).
 *
 * Origin: Parboil, spmv, base version; written anew.
 * Threads: 1-D, one work-item per row in the order of falling row length, guarded (`row < row_count`). All
 * rows of a warp of WARP_SIZE are padded to the same length, so that the trip count, read from constant
 * memory, is uniform in it.
 */
#ifndef WARP_SIZE
#define WARP_SIZE 32
#endif

kernel void spmv(global float *result, global const float *values, global const int *columns,
                 global const int *row_permutation, global const float *vector, int row_count,
                 constant int *diagonal_starts, constant int *warp_lengths)
{
    int row = get_global_id(0);
    if (row < row_count) {
        float sum = 0.0f;
        int length = warp_lengths[row / WARP_SIZE];
        for (int diagonal = 0; diagonal < length; ++diagonal) {
            int index = diagonal_starts[diagonal] + row;
            sum += values[index] * vector[columns[index]];
        }
        result[row_permutation[row]] = sum;
    }
}
