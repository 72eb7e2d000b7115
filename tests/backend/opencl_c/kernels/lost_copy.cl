kernel void lost_copy(global int* out, global const int* in, int n)
{
    int x = get_global_id(0);
    int i = 0, last = 0, before = -1;
    do {
        before = last;
        last = i;
        i += in[(x + i) & 31] & 1 ? 1 : 2;
    } while (i < n * 3);
    out[x] = i * 10000 + last * 100 + before;
}
