/*
 * Second derivative along a line by a difference of the eighth order, nine points wide.
 *
 * Kind: structured grids, seismology; written for the second judge.
 * Threads: 1-D, one work-item per sample; within four samples of either end the result is 0.
 */
#define RADIUS 4

kernel void high_order_derivative(global const float *samples, global float *derivative, int count, float scale,
                                  constant float *weights)
{
    int i = get_global_id(0);
    if (i >= count)
        return;
    float sum = 0.0f;
    if (i >= RADIUS && i < count - RADIUS) {
        sum = weights[0] * samples[i];
        for (int k = 1; k <= RADIUS; k++)
            sum += weights[k] * (samples[i - k] + samples[i + k]);
    }
    derivative[i] = sum * scale;
}
