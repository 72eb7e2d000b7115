kernel void vector_of_sixteen(global uchar16* out, global const uchar16* first)
{
    int x = get_global_id(0);
    uchar16 a = first[x];
    out[x] = a.sfedcba9876543210 + (uchar16)(a.lo, a.hi) * (uchar)3 + (a > (uchar)100 ? a : a / (uchar)2);
}
