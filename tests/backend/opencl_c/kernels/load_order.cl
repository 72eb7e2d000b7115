kernel void load_order(global int* out, global int* in)
{
    int x = get_global_id(0);
    int before = in[x];
    in[x] = before + 5;
    int after = in[x];
    out[x] = before * 1000 + after;
    in[x] = after - in[x];
}
