// Kernels that measure the cost of starting work.

kernel void empty(global uint *sink, uint never)
{
    if (get_global_id(0) == never)
        sink[0] = 1;
}

// Every round has a barrier, after which an item reads what its neighbour wrote, and one before it writes again.
kernel void barriers(global uint *sink, uint rounds, uint never, local uint *words)
{
    uint own = get_local_id(0), next = (own + 1) % (uint)get_local_size(0);
    words[own] = own;
    for (uint round = 0; round < rounds; round++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        uint found = words[next];
        barrier(CLK_LOCAL_MEM_FENCE);
        words[own] = found + round;
    }
    if (words[own] == never)
        sink[0] = own;
}
