kernel void rotation(global uint* out, global const uint* in)
{
    int x = get_global_id(0);
    out[x] = ((in[x] << 13) | (in[x] >> 19)) + rotate(in[x], (uint)x);
}
