/*
 * Several levels of the 1-D Haar wavelet transform, as many as fit a work-group.
 *
 * Origin: AMD APP SDK, DwtHaar1D; written anew. The host launches it again on the averages until one is
 * left.
 * Threads: 1-D, one work-item per two elements of the signal, no guard. The local size must be a power of
 * two.
 * Local memory: two floats per work-item. In each level half as many work-items as before are active;
 * reading and writing are kept apart by barriers outside the divergent branches.
 *
 * The coefficients of a level of n elements go to coefficients[n / 2 .. n - 1].
 */
#define INVERSE_SQUARE_ROOT_OF_2 0.70710678f

kernel void dwtHaar1D(global const float *signal, global float *coefficients, global float *averages,
                      local float *block, uint levels, uint signal_length, uint is_first)
{
    uint item = get_local_id(0);
    uint group = get_group_id(0);
    uint group_size = get_local_size(0);

    float left = signal[group * group_size * 2 + item];
    float right = signal[group * group_size * 2 + group_size + item];
    if (is_first) {
        float scale = rsqrt((float)signal_length);
        left *= scale;
        right *= scale;
    }
    block[item] = left;
    block[group_size + item] = right;
    barrier(CLK_LOCAL_MEM_FENCE);

    uint active = (1u << levels) >> 1;
    uint level_start = signal_length >> 1;
    for (uint level = 0; level < levels; ++level) {
        float even;
        float odd;
        if (item < active) {
            even = block[2 * item];
            odd = block[2 * item + 1];
        }
        barrier(CLK_LOCAL_MEM_FENCE);

        if (item < active) {
            block[item] = (even + odd) * INVERSE_SQUARE_ROOT_OF_2;
            coefficients[level_start + group * active + item] = (even - odd) * INVERSE_SQUARE_ROOT_OF_2;
            level_start >>= 1;
        }
        active >>= 1;
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    if (item == 0)
        averages[group] = block[0];
}
