/*
 * Screened potential of every charge in the field of all others, tile by tile through local memory.
 *
 * Kind: all pairs, n-body; written for the second judge.
 * Threads: 1-D, one work-item per charge, rounded up; a work-group loads a tile of its own size, where charges
 * beyond the last are 0.
 * Local memory: a float4 per work-item: place and charge.
 */
kernel void pair_potential(global const float4 *charges, global float *potential, uint count, float softening,
                           local float4 *tile)
{
    uint mine = get_global_id(0);
    uint item = get_local_id(0);
    uint items = get_local_size(0);
    float4 here = (mine < count) ? charges[mine] : (float4)(0.0f);
    float sum = 0.0f;

    for (uint start = 0; start < count; start += items) {
        uint other = start + item;
        tile[item] = (other < count) ? charges[other] : (float4)(0.0f, 0.0f, 0.0f, 0.0f);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < items; ++k) {
            float4 there = tile[k];
            float dx = there.x - here.x;
            float dy = there.y - here.y;
            float dz = there.z - here.z;
            float distance = sqrt(dx * dx + dy * dy + dz * dz + softening);
            sum += there.w * exp(-distance) / distance;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (mine < count)
        potential[mine] = sum;
}
