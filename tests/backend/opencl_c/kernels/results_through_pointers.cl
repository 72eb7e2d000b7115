kernel void results_through_pointers(global float* out, global const float* in)
{
    int x = get_global_id(0);
    float whole, c;
    int e;
    float part = fract(in[x], &whole);
    float m = frexp(in[x], &e);
    float s = sincos(in[x], &c);
    out[x] = part + whole * 10 + m + e + s * c + modf(in[x] * 3, out + x);
}
