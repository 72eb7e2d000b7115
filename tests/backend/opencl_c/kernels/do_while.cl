kernel void do_while(global uint* out, global const uint* in)
{
    int x = get_global_id(0);
    uint a = in[x] % 1000 + 1, steps = 0;
    do {
        a = a & 1 ? 3 * a + 1 : a / 2;
        ++steps;
    } while (a != 1 && steps < 50);
    out[x] = steps;
}
