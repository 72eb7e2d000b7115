kernel void float_orders(global float* out, global const float* first, global const float* second)
{
    int x = get_global_id(0);
    float a = first[x], b = second[x];
    out[x] = (a < b) + 2 * (a <= b) + 4 * (a == b) + 8 * (a != b) + 16 * !(a > b) + 32 * !(a >= b);
}
