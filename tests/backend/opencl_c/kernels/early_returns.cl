kernel void early_returns(global int* out, global const int* in)
{
    int x = get_global_id(0);
    out[x] = 1;
    if (in[x] < 0) return;
    out[x] = 2;
    for (int i = 0; i < 5; ++i) if (in[x + i] % 5 == 0) return;
    out[x] = 3;
    if (x > 20) {
        out[x] = 4;
        return;
    }
    out[x] += 5;
}
