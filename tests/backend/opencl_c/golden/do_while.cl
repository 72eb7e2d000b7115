kernel void do_while(global uint* out, global const uint* in)
{
    int x = get_global_id(0);
    uint a = in[x] % 1000 + 1;
    uint steps = 0u;
    do {
        if ((a & 1) != 0) {
            a = 3 * a + 1;
        } else {
            a /= 2;
        }
        ++steps;
    } while (a != 1 && steps < 50);
    out[x] = steps;
}
