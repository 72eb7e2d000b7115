kernel void generic_pointers(global int* out, global int* in, local int* staged)
{
    int x = get_global_id(0);
    int l = get_local_id(0);
    int own = x;
    staged[l] = in[x] + 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    int* p = in[x] & 1 ? (int*)(in + x) : (int*)(staged + l);
    if (x == 3) p = &own;
    *p += 2;
    out[x] = *p + p[0];
}
