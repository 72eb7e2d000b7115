kernel void lost_copy(global int* out, global const int* in, int n)
{
    int x = get_global_id(0);
    int i = 0;
    int last = 0;
    int value;
    while (true) {
        value = i + ((in[(x + i) & 31] & 1) != 0 ? 1 : 2);
        if (value >= n * 3) {
            break;
        }
        last = i;
        i = value;
    }
    out[x] = value * 10000 + i * 100 + last;
}
