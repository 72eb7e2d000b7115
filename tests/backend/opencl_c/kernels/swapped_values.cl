kernel void swapped_values(global int* out, global const int* in, int n)
{
    int x = get_global_id(0);
    int a = in[x], b = in[x + 1], c = 3;
    for (int i = 0; i < n; ++i) {
        int t = a;
        a = b;
        b = c;
        c = t;
    }
    out[3 * x] = a;
    out[3 * x + 1] = b;
    out[3 * x + 2] = c;
}
