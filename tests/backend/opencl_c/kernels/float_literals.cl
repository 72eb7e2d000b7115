kernel void float_literals(global float* out, global const float* first, global const float* second)
{
    int x = get_global_id(0);
    float a = first[x], b = second[x];
    out[x] = a * 1e-38f + 3.40282347e+38f * 0.1f + 16777217.0f + 1.17549435e-38f + (b > 0 ? INFINITY : -INFINITY);
}
