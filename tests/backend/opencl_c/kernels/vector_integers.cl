kernel void vector_integers(global short4* out, global const short4* first, global const ushort4* second, global uint4* third)
{
    int x = get_global_id(0);
    short4 a = first[x];
    ushort4 b = second[x];
    third[x] = (third[x] >> 3) * 5u + convert_uint4(b);
    out[x] = a * (short)3 + as_short4(b >> (ushort)2) + (a >> (short)1) + convert_short4_sat(convert_int4(a) * 7);
}
