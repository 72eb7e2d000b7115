kernel void lost_copy(global int* out, global const int* in, int n)
{
    int x = get_global_id(0);
    int merged = 0;
    int last = 0;
    int value;
    while (true) {
        value = merged + ((in[(x + merged) & 31] & 1) != 0 ? 1 : 2);
        if (value >= n * 3) {
            break;
        }
        last = merged;
        merged = value;
    }
    out[x] = value * 10000 + merged * 100 + last;
}
