kernel void switch_of_many(global int* out, global const int* in, global const uint* unsigned_in)
{
    int x = get_global_id(0);
    int r = x;
    for (int i = 0; i < 4; ++i) {
        switch (in[x] % 9 + i) {
            case -7: r += 1; break;
            case -3: r ^= 3;
            case -2: r *= 2; continue;
            case 0: case 4: case 5: r -= 9; break;
            case 3: return;
            case 8: i += 1; break;
        }
        switch (unsigned_in[x] >> (28 - i)) {
            case 0: r += 100; break;
            case 7: r += 200; break;
            case 15: case 16: case 17: r += 300; break;
            case 0xffffffffu: r += 400; break;
            default: r += 7;
        }
        out[x] = r;
    }
    switch (in[x + 1] & 3) {
        case 0: out[x] += 1; break;
        case 1: out[x] -= 1; break;
        case 2: out[x] *= 3; break;
        case 3: out[x] ^= 5; break;
    }
}
