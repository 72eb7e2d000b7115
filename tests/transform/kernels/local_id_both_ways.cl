// The local id is narrowed, and stands as a whole in a sum that is narrowed.
kernel void local_id_both_ways(global const int *in, global int *out)
{
    local int tile[32];
    int item = get_local_id(0);
    int place = get_group_id(0) * get_local_size(0) + get_local_id(0);
    tile[item] = in[place];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[place] = tile[(item + 5) & 31];
}
