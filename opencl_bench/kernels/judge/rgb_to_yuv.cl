/*
 * Planes of brightness and colour (full range YCbCr, in 1/65536) of packed pixels.
 *
 * Kind: images, video; written for the second judge.
 * Threads: 1-D, one work-item per pixel, guarded.
 */
kernel void rgb_to_yuv(global const uchar4 *pixels, global uchar *brightness, global uchar *blueness,
                       global uchar *redness, int count)
{
    int i = get_global_id(0);
    if (i >= count)
        return;
    uchar4 pixel = pixels[i];
    int red = pixel.x, green = pixel.y, blue = pixel.z;
    int y = (19595 * red + 38470 * green + 7471 * blue + 32768) >> 16;
    int u = ((-11059 * red - 21709 * green + 32768 * blue + 32768) >> 16) + 128;
    int v = ((32768 * red - 27439 * green - 5329 * blue + 32768) >> 16) + 128;
    brightness[i] = (uchar)y;
    blueness[i] = convert_uchar_sat(u);
    redness[i] = convert_uchar_sat(v);
}
