kernel void float_builtins(global float* out, global const float* first, global const float* second)
{
    int x = get_global_id(0);
    float a = first[x], b = second[x];
    out[x] = fabs(a) + sqrt(fabs(b)) + fma(a, b, 0.3f) + floor(a) + rint(b) + copysign(a, b);
}
