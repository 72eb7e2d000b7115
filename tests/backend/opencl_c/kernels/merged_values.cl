kernel void merged_values(global float* out, global const float* in)
{
    int x = get_global_id(0);
    float a = in[x], b;
    if (a > 0) b = a * 2;
    else if (a > -1) b = -a;
    else b = 7;
    float c = a > 1 ? b : a;
    out[x] = b + c;
}
