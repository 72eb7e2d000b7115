kernel void float_arithmetic(global float* out, global const float* first, global const float* second)
{
    int x = get_global_id(0);
    float a = first[x], b = second[x];
    out[x] = a * b + a / (b + 9.0f) - 0.1f * a;
}
