// The rounds of a message digest over a 16-word block per work-item: rotations, additions, selections.
#define STEP(f, a, b, c, d, word, sine, turn) (a) = rotate((a) + f((b), (c), (d)) + (word) + (sine), (uint)(turn)) + (b)
#define F(x, y, z) bitselect((z), (y), (x))
#define G(x, y, z) bitselect((y), (x), (z))
#define H(x, y, z) ((x) ^ (y) ^ (z))

constant uint initial[4] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u};

kernel void integer_mixing(global const uint *messages, global uint4 *digests, uint seed) {
    const size_t item = get_global_id(0);
    uint word[16];
    for (int i = 0; i < 16; ++i) {
        word[i] = messages[item * 16 + i] ^ seed;
    }
    uint a = initial[0], b = initial[1], c = initial[2], d = initial[3];
    for (int round = 0; round < 16; round += 4) {
        STEP(F, a, b, c, d, word[round & 15], 0xd76aa478u, 7);
        STEP(F, d, a, b, c, word[(round + 1) & 15], 0xe8c7b756u, 12);
        STEP(G, c, d, a, b, word[(5 * round + 1) & 15], 0xf61e2562u, 14);
        STEP(H, b, c, d, a, word[(3 * round + 5) & 15], 0xfffa3942u, 23);
    }
    digests[item] = (uint4)(a, b, c, d) + (uint4)(popcount(a), clz(b), mul_hi(c, d), hadd(c, d));
}
