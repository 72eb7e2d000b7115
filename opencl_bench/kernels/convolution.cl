/*
 * 2-D convolution (a correlation, in fact) of an image of integers with a mask of floats, rounded to
 * integers.
 *
 * Origin: AMD APP SDK, SimpleConvolution, non-separable version; written anew.
 * Threads: 1-D over the pixels of a 2-D image, row by row; work-items beyond the last pixel return early.
 * The input is padded: its rows have padded_width elements, so that the mask never leaves it. Mask loads are
 * uniform.
 */
kernel void convolution(global const uint *input, global const float *mask, global int *output,
                        uint width, uint height, uint mask_width, uint mask_height, uint padded_width)
{
    uint pixel = get_global_id(0);
    uint x = pixel % width;
    uint y = pixel / width;
    if (x >= width || y >= height)
        return;

    float sum = 0.0f;
    for (uint mask_y = 0; mask_y < mask_height; ++mask_y) {
        for (uint mask_x = 0; mask_x < mask_width; ++mask_x) {
            uint neighbour = (y + mask_y) * padded_width + x + mask_x;
            sum += input[neighbour] * mask[mask_y * mask_width + mask_x];
        }
    }
    output[pixel] = (int)(sum + 0.5f);
}
