kernel void switch_of_long(global long* out, global const long* in, global const char* small)
{
    int x = get_global_id(0);
    switch (in[x]) {
        case -9223372036854775807L: out[x] = 1; break;
        case -1L: out[x] = 2; break;
        case 0L: out[x] = 3; break;
        case 5000000000L: out[x] = 4; break;
        case 9223372036854775807L: out[x] = 5; break;
        default: out[x] = 6;
    }
    switch (small[x]) {
        case -128: out[x] += 10; break;
        case 12: out[x] += 20; break;
        case 13: out[x] += 30; break;
        case 127: out[x] += 40; break;
    }
}
