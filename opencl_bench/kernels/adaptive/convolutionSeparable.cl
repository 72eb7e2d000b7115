/*
 * Convolution of an image with the same weights along rows and columns; beyond the edges the image is 0.
 *
 * Origin: the task of convolution in G-ADAPT (Liu, Zhang, Shen, 2009) and of NVIDIA's SDK, convolutionSeparable;
 * written anew.
 * IMPL 0: rows, then convolutionSeparable_columns; what a work-group needs is staged in local memory.
 * IMPL 1: the same from global memory.
 * IMPL 2: both at once, with the products of weights, from global memory.
 * EACH: the pixels of a work-item, which stand a work-group apart.
 * Threads: 2-D, guarded; dimension 0 is the column. Local memory: the group's pixels and those about them (IMPL 0).
 */
#ifndef IMPL
#define IMPL 0
#endif
#ifndef EACH
#define EACH 8
#endif

kernel void convolutionSeparable(global const float *image, global const float *weights, uint width, uint height,
                                 uint radius, global float *rows, global float *output, local float *staged)
{
    uint x = get_local_id(0);
    uint y = get_global_id(1);
    uint group = get_local_size(0);
    uint first = get_group_id(0) * group * EACH;
#if IMPL == 0
    uint reach = group * EACH + 2 * radius;
    local float *line = staged + get_local_id(1) * reach;
    for (uint place = x; place < reach; place += group) {
        int column = (int)(first + place) - (int)radius;
        line[place] = y < height && column >= 0 && column < (int)width ? image[y * width + column] : 0.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    for (uint turn = 0; turn < EACH; ++turn) {
        uint column = first + turn * group + x;
        if (column >= width || y >= height)
            continue;
        float sum = 0.0f;
#if IMPL == 0
        for (uint k = 0; k <= 2 * radius; ++k)
            sum += weights[k] * line[turn * group + x + k];
        rows[y * width + column] = sum;
#elif IMPL == 1
        for (uint k = 0; k <= 2 * radius; ++k) {
            int from = (int)(column + k) - (int)radius;
            if (from >= 0 && from < (int)width)
                sum += weights[k] * image[y * width + from];
        }
        rows[y * width + column] = sum;
#else
        for (uint j = 0; j <= 2 * radius; ++j) {
            int row = (int)(y + j) - (int)radius;
            float of_row = 0.0f;
            if (row >= 0 && row < (int)height)
                for (uint k = 0; k <= 2 * radius; ++k) {
                    int from = (int)(column + k) - (int)radius;
                    if (from >= 0 && from < (int)width)
                        of_row += weights[k] * image[row * width + from];
                }
            sum += weights[j] * of_row;
        }
        output[y * width + column] = sum;
#endif
    }
}

/* Threads: 2-D, guarded; dimension 0 is the column. Along dimension 1 each work-item has EACH pixels. */
kernel void convolutionSeparable_columns(global const float *rows, global const float *weights, uint width,
                                         uint height, uint radius, global float *output, local float *staged)
{
    uint column = get_global_id(0);
    uint y = get_local_id(1);
    uint group = get_local_size(1);
    uint first = get_group_id(1) * group * EACH;
#if IMPL == 0
    uint items = get_local_size(0);
    uint reach = group * EACH + 2 * radius;
    for (uint place = y; place < reach; place += group) {
        int row = (int)(first + place) - (int)radius;
        staged[place * items + get_local_id(0)] =
            column < width && row >= 0 && row < (int)height ? rows[row * width + column] : 0.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    for (uint turn = 0; turn < EACH; ++turn) {
        uint row = first + turn * group + y;
        if (column >= width || row >= height)
            continue;
        float sum = 0.0f;
        for (uint k = 0; k <= 2 * radius; ++k) {
#if IMPL == 0
            sum += weights[k] * staged[(turn * group + y + k) * items + get_local_id(0)];
#else
            int from = (int)(row + k) - (int)radius;
            if (from >= 0 && from < (int)height)
                sum += weights[k] * rows[from * width + column];
#endif
        }
        output[row * width + column] = sum;
    }
}
