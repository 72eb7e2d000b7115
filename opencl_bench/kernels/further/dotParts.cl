/*
 * A part of a dot product by each work-group, added up in a tree in local memory; the host adds the parts.
 *
 * Origin: written for the study of tuned programs.
 * Threads: 1-D; each work-item multiplies pairs that are as far apart as there are work-items. The local size is a
 * power of two. A barrier in each step of the tree, outside of the divergent branch.
 */
kernel void dotParts(global const float *left, global const float *right, global float *parts, local float *sums,
                     uint length)
{
    uint lane = get_local_id(0);
    float sum = 0.0f;
    for (uint index = get_global_id(0); index < length; index += get_global_size(0))
        sum += left[index] * right[index];
    sums[lane] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
        if (lane < half_size)
            sums[lane] += sums[lane + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0)
        parts[get_group_id(0)] = sums[0];
}
