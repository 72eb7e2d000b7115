kernel void short_circuit(global int* out, global const int* in, int n)
{
    int x = get_global_id(0);
    int r;
    if ((x < n && in[x] > 0) || (x > 20 && in[x - 20] < in[x])) {
        r = 1;
    } else if ((x & 1) != 0) {
        r = 0;
    } else {
        r = in[x + 1] != 0 ? 2 : 0;
    }
    int i;
    for (i = 0; i < 20 && in[i] != in[x]; ++i) {
    }
    out[x] = r * 100 + i;
}
