kernel void static_local(global float* out, global const float* in)
{
    int x = get_global_id(0);
    local float tile[4][9];
    local int count;
    int l = get_local_id(0);
    if (l == 0) count = 0;
    tile[l & 3][l] = in[x];
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&count, l);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    out[x] = tile[(l ^ 1) & 3][l ^ 1] + count;
}
