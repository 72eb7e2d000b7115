/*
 * Naive transpose of a row-major matrix.
 *
 * Origin: AMD APP SDK, MatrixTranspose, naive version; written anew.
 * Threads: 2-D, one work-item per element; dimension 0 is the input's column, dimension 1 its row. No guard:
 * the NDRange is exactly width by height. The load is coalesced along dimension 0, the store is not.
 */
kernel void mt(global float *output, global const float *input, uint width, uint height)
{
    uint x = get_global_id(0);
    uint y = get_global_id(1);
    output[x * height + y] = input[y * width + x];
}
