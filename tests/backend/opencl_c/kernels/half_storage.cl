kernel void half_storage(global float* out, global const half* first, global const half* second, global half* stored)
{
    int x = get_global_id(0);
    out[x] = vload_half(x, first) + vload_half2(x, second).y;
    vstore_half(out[x] * 0.25f, x, stored);
}
