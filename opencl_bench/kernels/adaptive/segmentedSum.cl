/*
 * The sums of segments of an array of whole numbers; segment i has the elements starts[i] to starts[i + 1].
 *
 * Origin: written for this suite.
 * IMPL 0: a work-item for each segment.
 * IMPL 1: LANES work-items for each segment, which add up in local memory.
 * IMPL 2: each work-item has EACH elements, wherever segments start, and adds what it finds to the sums by atomic
 *         operations; segmentedSum_zero has cleared them.
 * Threads: 1-D, guarded. Local memory: an int per work-item (IMPL 1).
 */
#ifndef IMPL
#define IMPL 0
#endif
#ifndef LANES
#define LANES 32
#endif
#ifndef EACH
#define EACH 64
#endif

kernel void segmentedSum(global const int *starts, global const int *elements, uint segments, uint n,
                         global int *sums, local int *lanes)
{
#if IMPL == 0
    uint segment = get_global_id(0);
    if (segment < segments) {
        int sum = 0;
        for (int place = starts[segment]; place < starts[segment + 1]; ++place)
            sum += elements[place];
        sums[segment] = sum;
    }
#elif IMPL == 1
    uint item = get_local_id(0);
    uint segment = get_global_id(0) / LANES;
    uint lane = item % LANES;
    int own = 0;
    if (segment < segments)
        for (int place = starts[segment] + (int)lane; place < starts[segment + 1]; place += LANES)
            own += elements[place];
    lanes[item] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_size = LANES / 2; half_size > 0; half_size /= 2) {
        if (lane < half_size)
            lanes[item] += lanes[item + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0 && segment < segments)
        sums[segment] = lanes[item];
#else
    uint place = get_global_id(0) * EACH;
    uint end = min(place + EACH, n);
    if (place >= n)
        return;
    uint segment = 0;
    uint beyond = segments;
    while (segment + 1 < beyond) { /* the last segment that starts here or earlier */
        uint middle = (segment + beyond) / 2;
        if ((uint)starts[middle] <= place)
            segment = middle;
        else
            beyond = middle;
    }
    while (place < end) {
        uint own_end = min((uint)starts[segment + 1], end);
        int sum = 0;
        for (; place < own_end; ++place)
            sum += elements[place];
        if (sum != 0)
            atomic_add(sums + segment, sum);
        ++segment;
    }
#endif
}

/* Threads: 1-D, a work-item per segment, guarded. */
kernel void segmentedSum_zero(global int *sums, uint segments)
{
    if (get_global_id(0) < segments)
        sums[get_global_id(0)] = 0;
}
