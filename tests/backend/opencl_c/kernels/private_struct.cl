kernel void private_struct(global int* out, global const int* in)
{
    int x = get_global_id(0);
    struct {
        int low;
        short parts[6];
        int high;
    } s = {in[x], {1, 2, 3}, x};
    s.parts[in[x] & 3] += 5;
    int* p = in[x] & 1 ? &s.low : &s.high;
    *p += s.parts[x & 3];
    out[x] = s.low ^ s.high;
}
