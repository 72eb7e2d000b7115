kernel void vector_conversions(global uchar4* out, global const float4* first, global int* packed, global char4* signed_out)
{
    int x = get_global_id(0);
    float4 a = first[x];
    out[x] = convert_uchar4_sat_rte(a * 90.0f);
    signed_out[x] = convert_char4_sat(a * 60.0f);
    packed[x] = as_int(out[x]) + as_int(as_short2(x)) + as_char4(x).y;
}
