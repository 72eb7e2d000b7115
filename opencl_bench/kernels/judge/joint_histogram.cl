/*
 * Joint histogram of two pictures, counted in global memory; pixels outside a mask don't count.
 *
 * Kind: histograms, registration of images; written for the second judge.
 * Threads: 2-D, one work-item per pixel, guarded; dimension 0 is the column.
 */
kernel void joint_histogram(global const uchar *first, global const uchar *second, global const uchar *mask,
                            global int *histogram, int width, int height, int shift)
{
    int x = get_global_id(0);
    int y = get_global_id(1);
    if (x >= width || y >= height)
        return;
    int pixel = y * width + x;
    if (mask[pixel] == 0)
        return;
    int bins = 256 >> shift;
    int bin = (first[pixel] >> shift) * bins + (second[pixel] >> shift);
    atomic_add(histogram + bin, 1);
}
