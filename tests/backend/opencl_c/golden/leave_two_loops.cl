kernel void leave_two_loops(global int* out, global const int* in)
{
    int x = get_global_id(0);
    int found = -1;
    int i = 0;
    int cleanup_dest_slot;
    while (true) {
        if (i >= 6) {
            cleanup_dest_slot = 2;
            break;
        }
        int j = 0;
        while (true) {
            if (j >= 6) {
                cleanup_dest_slot = 5;
                break;
            }
            if ((in[i] + in[j] + x) % 11 == 0) {
                found = i * 6 + j;
                cleanup_dest_slot = 8;
                break;
            }
            ++j;
        }
        if (cleanup_dest_slot != 5) {
            break;
        }
        ++i;
    }
    if (cleanup_dest_slot != 8) {
        found = 99;
    }
    out[x] = found;
}
