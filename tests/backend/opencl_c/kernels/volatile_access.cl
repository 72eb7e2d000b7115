kernel void volatile_access(volatile global int* out, global const int* in)
{
    int x = get_global_id(0);
    volatile int kept = in[x];
    kept += kept;
    out[x] = kept;
    out[x] += 1;
}
