kernel void leave_two_loops(global int* out, global const int* in)
{
    int x = get_global_id(0);
    int found = -1;
    for (int i = 0; i < 6; ++i) {
        for (int j = 0; j < 6; ++j) {
            if ((in[i] + in[j] + x) % 11 == 0) {
                found = i * 6 + j;
                goto done;
            }
        }
    }
    found = 99;
done:
    out[x] = found;
}
