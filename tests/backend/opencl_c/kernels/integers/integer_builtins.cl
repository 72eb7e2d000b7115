kernel void integer_builtins(global TYPE* out, global const TYPE* first, global const TYPE* second)
{
    int x = get_global_id(0);
    TYPE a = first[x];
    TYPE b = second[x];
    out[4 * x] = max(a, b) + min(a, b) * 3 + clz(a) + popcount(b);
    out[4 * x + 1] = mul_hi(a, b) + add_sat(a, b) - sub_sat(a, b) + hadd(a, b);
    out[4 * x + 2] = (TYPE)abs(a) + (TYPE)abs_diff(a, b) + clamp(a, (TYPE)3, (TYPE)50);
    out[4 * x + 3] = (TYPE)(convert_float(a & 63) * 0.5f) + (TYPE)((float)(b & 31));
}
