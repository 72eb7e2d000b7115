// A twisted generalised feedback shift register per work-item, its state in a private array.
#define WORDS 25
#define MIDDLE 7

kernel void mersenne_twister(global const uint *seeds, global float *numbers, int per_item) {
    const int item = get_global_id(0);
    uint state[WORDS];
    state[0] = seeds[item];
    for (int i = 1; i < WORDS; ++i) {
        state[i] = 1812433253u * (state[i - 1] ^ (state[i - 1] >> 30)) + i;
    }
    int position = 0;
    for (int i = 0; i < per_item; ++i) {
        const int later = (position + MIDDLE) % WORDS;
        const uint mixed = state[later] ^ (state[position] >> 1) ^ ((state[position] & 1) ? 0x8ebfd028u : 0u);
        state[position] = mixed;
        uint tempered = mixed ^ ((mixed << 7) & 0x2b5b2500u);
        tempered ^= (tempered << 15) & 0xdb8b0000u;
        tempered ^= tempered >> 16;
        numbers[i * get_global_size(0) + item] = (float)(tempered >> 8) * (1.0f / 16777216.0f);
        position = position + 1 == WORDS ? 0 : position + 1;
    }
}
