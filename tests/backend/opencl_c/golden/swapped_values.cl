kernel void swapped_values(global int* out, global const int* in, int n)
{
    int x = get_global_id(0);
    int b = in[x + 1];
    int c = 3;
    int a = in[x];
    for (int i = 0; i < n; ++i) {
        int next_b = c;
        c = a;
        a = b;
        b = next_b;
    }
    out[3 * x] = a;
    out[3 * x + 1] = b;
    out[3 * x + 2] = c;
}
