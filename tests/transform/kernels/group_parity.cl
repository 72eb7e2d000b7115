kernel void group_parity(global const uint *input, global uint *output, uint width, uint height, uint planes)
{
    local uint scratch[64];
    uint position = (get_global_id(2) * height + get_global_id(1)) * width + get_global_id(0);
    uint result = 0;
    for (uint plane = 0; plane < planes; ++plane)
        result ^= input[plane * (width * height) + position];
    uint lane = get_local_id(2) * get_local_size(0) * get_local_size(1) + get_local_id(1) * get_local_size(0)
        + get_local_id(0);
    scratch[lane] = result;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint active = get_local_size(0) * get_local_size(1) * get_local_size(2) / 2; active > 0; active /= 2) {
        if (lane < active)
            scratch[lane] ^= scratch[lane + active];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0)
        output[(get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) + get_group_id(0)]
            = scratch[0];
}
