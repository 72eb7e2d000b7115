/*
 * The brightness of pixels of four 8-bit channels, by the weights of ITU-R BT.601 in fixed point.
 *
 * Origin: written for the study of tuned programs.
 * Threads: 1-D, one work-item per pixel: a load of four bytes and a store of one.
 */
kernel void gray(global const uchar4 *pixels, global uchar *brightness, uint pixel_count)
{
    uint index = get_global_id(0);
    if (index >= pixel_count)
        return;

    uint4 pixel = convert_uint4(pixels[index]);
    brightness[index] = (uchar)((77 * pixel.x + 150 * pixel.y + 29 * pixel.z + 128) >> 8);
}
