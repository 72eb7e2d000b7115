/*
 * Naive transpose of a row-major matrix of height × width floats.
 *
 * Origin: the task of transpose in G-ADAPT (Liu, Zhang, Shen, 2009) and of NVIDIA's SDK, oclTranspose; written anew.
 * IMPL 0: dimension 0 of the NDRange is the input's column: neighbours read side by side.
 * IMPL 1: dimension 0 is the input's row: neighbours write side by side.
 * Threads: 2-D, one work-item per element, guarded.
 */
#ifndef IMPL
#define IMPL 0
#endif

kernel void transpose(global float *output, global const float *input, uint width, uint height)
{
    uint column = get_global_id(IMPL == 0 ? 0 : 1);
    uint row = get_global_id(IMPL == 0 ? 1 : 0);
    if (column < width && row < height)
        output[column * height + row] = input[row * width + column];
}
