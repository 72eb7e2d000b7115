// Exclusive prefix sum of one block per work-group, up and down a tree in local memory.
kernel void prefix_sum(global const int *input, global int *output, global int *block_sums, local int *tree) {
    const int item = get_local_id(0);
    const int width = 2 * get_local_size(0);
    const int start = get_group_id(0) * width;
    tree[2 * item] = input[start + 2 * item];
    tree[2 * item + 1] = input[start + 2 * item + 1];
    int distance = 1;
    for (int active = width >> 1; active > 0; active >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < active) {
            tree[distance * (2 * item + 2) - 1] += tree[distance * (2 * item + 1) - 1];
        }
        distance *= 2;
    }
    if (item == 0) {
        block_sums[get_group_id(0)] = tree[width - 1];
        tree[width - 1] = 0;
    }
    for (int active = 1; active < width; active *= 2) {
        distance >>= 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < active) {
            const int left = distance * (2 * item + 1) - 1;
            const int right = distance * (2 * item + 2) - 1;
            const int kept = tree[left];
            tree[left] = tree[right];
            tree[right] += kept;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    output[start + 2 * item] = tree[2 * item];
    output[start + 2 * item + 1] = tree[2 * item + 1];
}
