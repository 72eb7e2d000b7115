kernel void switch_cases(global int* out, global const int* in)
{
    int x = get_global_id(0);
    int r = 0;
    switch (in[x] & 7) {
        case 0:
        r = 1;
        case 1:
        r += 2;
        break;
        case 5:
        r = 50;
        break;
        case 6:
        return;
        default:
        r = -1;
    }
    out[x] = r;
}
