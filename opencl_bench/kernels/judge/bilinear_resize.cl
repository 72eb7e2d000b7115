/*
 * A picture in another size, each pixel mixed from the four nearest ones.
 *
 * Kind: images; written for the second judge.
 * Threads: 2-D, one work-item per pixel of the result, guarded; dimension 0 is the column.
 */
kernel void bilinear_resize(global const uchar4 *source, global uchar4 *resized, int source_width,
                            int source_height, int width, int height, float scale_x, float scale_y)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width)
        return;
    if (y >= height)
        return;

    float source_x = clamp((x + 0.5f) * scale_x - 0.5f, 0.0f, source_width - 1.0f);
    float source_y = clamp((y + 0.5f) * scale_y - 0.5f, 0.0f, source_height - 1.0f);
    int x0 = (int)source_x, y0 = (int)source_y;
    int x1 = min(x0 + 1, source_width - 1), y1 = min(y0 + 1, source_height - 1);
    float right = source_x - x0, lower = source_y - y0;

    float4 top = mix(convert_float4(source[y0 * source_width + x0]),
                     convert_float4(source[y0 * source_width + x1]), right);
    float4 bottom = mix(convert_float4(source[y1 * source_width + x0]),
                        convert_float4(source[y1 * source_width + x1]), right);
    resized[y * width + x] = convert_uchar4_sat_rte(mix(top, bottom, lower));
}
