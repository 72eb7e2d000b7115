kernel void float_more_builtins(global float* out, global const float* first, global const float* second)
{
    int x = get_global_id(0);
    float a = first[x], b = second[x];
    out[x] = native_sin(a) * 0.0f + exp2(a) + fmod(a, b) + ldexp(a, 3) + fmin(a, b) + fmax(a, 1.0f);
}
