kernel void bit_builtins(global uint* out, global const uint* a, global const ulong* b)
{
    int x = get_global_id(0);
    out[x] = popcount(a[x]) + clz(a[x]) + (uint)popcount(b[x]) + mul24((int)a[x] >> 10, 3) + bitselect(a[x], 5u, 0xffu) + rhadd(a[x], 7u) + mad_sat(a[x], 3u, 9u) + (uint)clamp((int)a[x], -5, 5) + as_uint(as_uchar4(a[x]).wzyx);
}
