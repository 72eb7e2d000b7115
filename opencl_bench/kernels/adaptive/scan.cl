/*
 * Running sums of whole numbers, which wrap around: output i is the sum of the elements 0 to i.
 *
 * Origin: written for this suite; three phases, as a group may not wait for another one.
 * A work-group has a block of EACH elements for each of its work-items, which has them side by side.
 * IMPL 0: scan_sums adds up the blocks, scan_tops sums up to each block, scan then writes the running sums.
 * IMPL 1: scan writes the running sums of each block, scan_tops as before, scan_add adds it to the blocks.
 * IMPL 2: one work-group goes through all the blocks.
 * Threads: 1-D, guarded; the local size is a power of two. Local memory: an int for each work-item.
 */
#ifndef IMPL
#define IMPL 0
#endif
#ifndef EACH
#define EACH 4
#endif

/* The sum of what the work-items up to this one have, by steps that double. */
int sum_up_to(local int *sums, int own)
{
    uint item = get_local_id(0);
    sums[item] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < get_local_size(0); step *= 2) {
        int other = item >= step ? sums[item - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[item] += other;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return sums[item];
}

int sum_of_own(global const int *elements, uint first, uint n)
{
    int sum = 0;
    for (uint place = first; place < min(first + EACH, n); ++place)
        sum += elements[place];
    return sum;
}

/* Writes the running sums of a work-item's elements, where `sum` are before them. */
void write_own(global const int *elements, uint first, uint n, int sum, global int *output)
{
    for (uint place = first; place < min(first + EACH, n); ++place) {
        sum += elements[place];
        output[place] = sum;
    }
}

kernel void scan(global const int *elements, uint n, global int *output, global int *blocks, local int *sums)
{
    uint block = get_local_size(0) * EACH;
#if IMPL == 2
    int before = 0;
    for (uint start = 0; start < n; start += block) {
        uint first = start + get_local_id(0) * EACH;
        int own = sum_of_own(elements, first, n);
        int up_to = sum_up_to(sums, own);
        write_own(elements, first, n, before + up_to - own, output);
        before += sums[get_local_size(0) - 1];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#else
    uint first = get_group_id(0) * block + get_local_id(0) * EACH;
    int own = sum_of_own(elements, first, n);
    int up_to = sum_up_to(sums, own);
#if IMPL == 0
    int before = get_group_id(0) > 0 ? blocks[get_group_id(0) - 1] : 0;
#else
    int before = 0;
    if (get_local_id(0) == get_local_size(0) - 1)
        blocks[get_group_id(0)] = up_to;
#endif
    write_own(elements, first, n, before + up_to - own, output);
#endif
}

/* Threads: as those of scan. */
kernel void scan_sums(global const int *elements, uint n, global int *blocks, local int *sums)
{
    uint first = get_group_id(0) * get_local_size(0) * EACH + get_local_id(0) * EACH;
    int sum = sum_up_to(sums, sum_of_own(elements, first, n));
    if (get_local_id(0) == get_local_size(0) - 1)
        blocks[get_group_id(0)] = sum;
}

/* Threads: 1-D, one work-group. */
kernel void scan_tops(global int *blocks, uint count, local int *sums)
{
    int before = 0;
    for (uint start = 0; start < count; start += get_local_size(0)) {
        uint place = start + get_local_id(0);
        int own = place < count ? blocks[place] : 0;
        int up_to = sum_up_to(sums, own);
        if (place < count)
            blocks[place] = before + up_to;
        before += sums[get_local_size(0) - 1];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* Threads: as those of scan, without the last work-group: the first block is right as it is. */
kernel void scan_add(global const int *blocks, uint n, global int *output)
{
    uint block = get_local_size(0) * EACH;
    uint start = (get_group_id(0) + 1) * block;
    for (uint place = start + get_local_id(0); place < min(start + block, n); place += get_local_size(0))
        output[place] += blocks[get_group_id(0)];
}
