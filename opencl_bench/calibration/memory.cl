// Kernels that measure memory. `never` is a value that no sum of theirs has: the store keeps their work alive.

// Every item reads vectors at start, start + step, …, around a footprint whose size is a power of two.
kernel void cyclic(global const float4 *data, uint mask, uint rounds, uint step, global float *sink, float never)
{
    uint place = get_global_id(0);
    float4 a = 0.0f, b = 0.0f, c = 0.0f, d = 0.0f;
    for (uint round = 0; round < rounds; round += 4) {
        a += data[place & mask];
        b += data[(place + step) & mask];
        c += data[(place + 2 * step) & mask];
        d += data[(place + 3 * step) & mask];
        place += 4 * step;
    }
    a += b + c + d;
    if (a.x + a.y + a.z + a.w == never)
        sink[0] = a.x;
}

// Every item reads a share of the footprint, `length` vectors of it, and another one in each further round.
kernel void blocked(
    global const float16 *data, uint length, uint shares, uint rounds, uint turn, global float *sink, float never)
{
    uint share = get_global_id(0);
    float16 a = 0.0f, b = 0.0f, c = 0.0f, d = 0.0f;
    for (uint round = 0; round < rounds; round++) {
        global const float16 *from = data + (ulong)share * length;
        for (uint i = 0; i < length; i += 4) {
            a += from[i];
            b += from[i + 1];
            c += from[i + 2];
            d += from[i + 3];
        }
        share = (share + turn) % shares;
    }
    a += b + c + d;
    if (a.s0 + a.s5 + a.sa + a.sf == never)
        sink[0] = a.s1;
}

// Neighbouring items read elements that lie `stride` apart; a group's four reads of an item go through one piece.
kernel void strided(global const float *data, uint mask, uint stride, global float *sink, float never)
{
    uint step = get_local_size(0) * stride;
    uint place = get_group_id(0) * 4 * step + get_local_id(0) * stride;
    float sum = data[place & mask] + data[(place + step) & mask]
        + data[(place + 2 * step) & mask] + data[(place + 3 * step) & mask];
    if (sum == never)
        sink[0] = sum;
}

// One item follows a chain of places, each of which holds the next.
kernel void chase(global const uint *next, uint steps, global uint *place)
{
    uint here = place[0];
    for (uint step = 0; step < steps; step++)
        here = next[here];
    place[0] = here;
}

// Items of a group read local memory `stride` words apart.
kernel void tile(uint rounds, uint stride, global float *sink, float never)
{
    local float words[TILE];
    uint size = get_local_size(0), own = get_local_id(0);
    for (uint i = own; i < TILE; i += size)
        words[i] = (float)i;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint place = own * stride;
    float a = 0.0f, b = 0.0f, c = 0.0f, d = 0.0f;
    for (uint round = 0; round < rounds; round++) {
        a += words[place & (TILE - 1)];
        b += words[(place + stride * 32) & (TILE - 1)];
        c += words[(place + stride * 64) & (TILE - 1)];
        d += words[(place + stride * 96) & (TILE - 1)];
        place += stride * 128;
    }
    if (a + b + c + d == never)
        sink[0] = a;
}
