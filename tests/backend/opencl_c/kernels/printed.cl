kernel void printed(global int* out, global const float* in)
{
    int x = get_global_id(0);
    out[x] = x;
    if (x > 1000) printf("%d: %f %s %%\n", x, in[x], "a\"b");
}
