/*
 * The vertical pass of a separable Gaussian blur of an image of floats; beyond its edge, the image goes on with the
 * row of the edge.
 *
 * Origin: written for the study of tuned programs.
 * Threads: 2-D, one work-item per pixel; dimension 0 is the column. Weights are in constant memory, and uniform.
 */
kernel void blur(global const float *image, constant float *weights, global float *blurred, int width, int height,
                 int radius)
{
    int x = get_global_id(0);
    int y = get_global_id(1);
    if (x >= width || y >= height)
        return;

    float sum = 0.0f;
    for (int offset = -radius; offset <= radius; ++offset) {
        int row = clamp(y + offset, 0, height - 1);
        sum += weights[offset + radius] * image[row * width + x];
    }
    blurred[y * width + x] = sum;
}
