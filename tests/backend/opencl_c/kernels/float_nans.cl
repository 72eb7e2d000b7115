kernel void float_nans(global float* out, global const float* first, global const float* second)
{
    int x = get_global_id(0);
    float a = first[x], b = second[x];
    float c = x % 3 ? a : NAN;
    out[x] = isnan(c) + 2 * isequal(c, b) + 4 * isunordered(c, b) + 8 * !(c < b) + 16 * (c != c) + 32 * islessgreater(c, b);
}
