kernel void float_bits(global float* out, global const float* first, global const float* second)
{
    int x = get_global_id(0);
    float a = first[x], b = second[x];
    out[x] = as_float((as_int(a) & 0x7fffffff) ^ (as_uint(b) & 0x80000000u));
}
