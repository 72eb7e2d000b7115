kernel void unsigned_wraps(global uint* out, global const uint* first)
{
    int x = get_global_id(0);
    uint a = first[x];
    out[x] = (a * 2654435761u + 12345u) ^ (a - 4000000000u) ^ (0u - a) ^ ((a << 13) | (a >> 11));
}
