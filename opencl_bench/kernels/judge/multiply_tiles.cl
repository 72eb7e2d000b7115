/*
 * Product of two row-major matrices of any extents, through square tiles in local memory.
 *
 * Kind: dense linear algebra; written for the second judge.
 * Threads: 2-D, one work-item per element of the product, rounded up to whole tiles; a work-group is a tile, thus
 * square. Elements beyond the matrices count as 0.
 * Local memory: two tiles of floats.
 */
kernel void multiply_tiles(global const float *a, global const float *b, global float *product, int height,
                           int width, int inner, local float *tile_a, local float *tile_b)
{
    const int side = get_local_size(0);
    const int local_x = get_local_id(0), local_y = get_local_id(1);
    const int x = get_global_id(0), y = get_global_id(1);
    const int here = local_y * side + local_x;
    float sum = 0.0f;

    for (int start = 0; start < inner; start += side) {
        const int a_column = start + local_x, b_row = start + local_y;
        tile_a[here] = (y < height && a_column < inner) ? a[y * inner + a_column] : 0.0f;
        tile_b[here] = (x < width && b_row < inner) ? b[b_row * width + x] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < side; ++k)
            sum += tile_a[local_y * side + k] * tile_b[k * side + local_x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (x < width && y < height)
        product[y * width + x] = sum;
}
