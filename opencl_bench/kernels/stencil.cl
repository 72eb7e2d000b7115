/*
 * One step of a 7-point stencil on a 3-D grid.
 *
 * Origin: Parboil, stencil, base version; written anew.
 * Threads: 3-D, one work-item per inner point; dimension 0 is x, the fastest. Guarded along x only; along y
 * and z the NDRange is exactly the number of inner points. The grid's border is left as it is.
 */
kernel void stencil(float centre_weight, float neighbour_weight, global const float *input, global float *output,
                    uint width, uint height)
{
    uint x = get_global_id(0) + 1;
    uint y = get_global_id(1) + 1;
    uint z = get_global_id(2) + 1;
    if (x < width - 1) {
        uint row_size = width;
        uint plane_size = width * height;
        uint centre = z * plane_size + y * row_size + x;
        float neighbours = input[centre - plane_size] + input[centre + plane_size]
                         + input[centre - row_size] + input[centre + row_size]
                         + input[centre - 1] + input[centre + 1];
        output[centre] = neighbour_weight * neighbours - centre_weight * input[centre];
    }
}
