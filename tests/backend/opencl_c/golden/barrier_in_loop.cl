kernel void barrier_in_loop(global int* out, global const int* in, local int* staged)
{
    int x = get_global_id(0);
    int l = get_local_id(0);
    int size = get_local_size(0);
    staged[l] = in[x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = size / 2; s > 0; s = (uint)s >> 1) {
        if (l < s) {
            staged[l] += staged[l + s];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) {
        out[get_group_id(0)] = *staged;
    }
}
