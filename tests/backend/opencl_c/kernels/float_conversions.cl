kernel void float_conversions(global float* out, global const float* first, global const float* second)
{
    int x = get_global_id(0);
    float a = first[x], b = second[x];
    out[x] = (int)a + (uint)(b + 5) + (char)a + (float)(long)b + convert_int_sat_rte(a * 1e9f);
}
