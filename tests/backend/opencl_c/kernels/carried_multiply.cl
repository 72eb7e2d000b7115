kernel void carried_multiply(global ulong* out, global const ulong* first, global const uint* second)
{
    int x = get_global_id(0);
    ulong a = first[x];
    ulong product = (ulong)second[x] * (a >> 32);
    out[x] = (product >> 32) + (uint)product + upsample(second[x], (uint)a) + mad24((int)(a & 255), 3, 5);
}
