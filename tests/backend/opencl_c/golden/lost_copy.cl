kernel void lost_copy(global int* out, global const int* in, int n)
{
    int x = get_global_id(0);
    int i = 0;
    int last = 0;
    int i_2;
    while (true) {
        i_2 = i + ((in[(x + i) & 31] & 1) != 0 ? 1 : 2);
        if (i_2 >= n * 3) {
            break;
        }
        last = i;
        i = i_2;
    }
    out[x] = i_2 * 10000 + i * 100 + last;
}
