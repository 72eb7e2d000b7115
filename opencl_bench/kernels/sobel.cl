/*
 * Sobel edge filter, 3 x 3, on pixels of four 8-bit channels.
 *
 * Origin: AMD APP SDK, SobelFilter; written anew.
 * Threads: 2-D, one work-item per pixel; dimension 0 is the column, dimension 1 the row. The NDRange is
 * exactly the image's width by its height. Border pixels are left as they are (divergent guard).
 */
kernel void sobel(global const uchar4 *input, global uchar4 *output)
{
    uint x = get_global_id(0);
    uint y = get_global_id(1);
    uint width = get_global_size(0);
    uint height = get_global_size(1);
    uint centre = y * width + x;

    if (x >= 1 && x < width - 1 && y >= 1 && y < height - 1) {
        float4 top_left = convert_float4(input[centre - width - 1]);
        float4 top = convert_float4(input[centre - width]);
        float4 top_right = convert_float4(input[centre - width + 1]);
        float4 left = convert_float4(input[centre - 1]);
        float4 right = convert_float4(input[centre + 1]);
        float4 bottom_left = convert_float4(input[centre + width - 1]);
        float4 bottom = convert_float4(input[centre + width]);
        float4 bottom_right = convert_float4(input[centre + width + 1]);

        float4 horizontal = top_left + 2.0f * left + bottom_left - top_right - 2.0f * right - bottom_right;
        float4 vertical = top_left + 2.0f * top + top_right - bottom_left - 2.0f * bottom - bottom_right;
        output[centre] = convert_uchar4(hypot(horizontal, vertical) / 2.0f);
    }
}
