/*
 * The `wanted` largest elements of each row, in descending order; there are at most 16.
 *
 * Origin: written for this suite.
 * IMPL 0: a work-item for a row, with a sorted list of its own that elements are put into.
 * IMPL 1: a work-group for a row, which it sorts in local memory by a bitonic network.
 * IMPL 2: a work-group for a row in local memory, from which it takes the largest element `wanted` times.
 * EACH: rows that a work-item (IMPL 0) or a work-group has, one after the other.
 * Threads: 1-D, guarded; the local size is a power of two. Local memory: a float for each element of a row, up to the
 * next power of two (IMPL 1), or for each element and two for each work-item (IMPL 2).
 */
#ifndef IMPL
#define IMPL 0
#endif
#ifndef EACH
#define EACH 1
#endif
#define MOST 16

kernel void topK(global const float *values, uint rows, uint length, uint wanted, global float *largest,
                 local float *staged)
{
#if IMPL == 0
    uint items = get_local_size(0);
    for (uint turn = 0; turn < EACH; ++turn) {
        uint row = (get_group_id(0) * EACH + turn) * items + get_local_id(0);
        if (row >= rows)
            return;
        float own[MOST];
        for (uint k = 0; k < MOST; ++k)
            own[k] = -INFINITY;
        for (uint place = 0; place < length; ++place) {
            float value = values[row * length + place];
            if (value > own[wanted - 1]) {
                uint k = wanted - 1;
                for (; k > 0 && own[k - 1] < value; --k)
                    own[k] = own[k - 1];
                own[k] = value;
            }
        }
        for (uint k = 0; k < wanted; ++k)
            largest[row * wanted + k] = own[k];
    }
#else
    uint item = get_local_id(0);
    uint items = get_local_size(0);
    for (uint row = get_group_id(0) * EACH; row < min(rows, (uint)(get_group_id(0) + 1) * EACH); ++row) {
#if IMPL == 1
        uint padded = 1;
        while (padded < length)
            padded *= 2;
        for (uint place = item; place < padded; place += items)
            staged[place] = place < length ? values[row * length + place] : -INFINITY;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint size = 2; size <= padded; size *= 2)
            for (uint distance = size / 2; distance > 0; distance /= 2) {
                for (uint pair = item; pair < padded / 2; pair += items) {
                    uint low = pair / distance * 2 * distance + pair % distance;
                    float first = staged[low];
                    float second = staged[low + distance];
                    int descends = (low & size) == 0;
                    if (descends ? first < second : first > second) {
                        staged[low] = second;
                        staged[low + distance] = first;
                    }
                }
                barrier(CLK_LOCAL_MEM_FENCE);
            }
        for (uint k = item; k < wanted; k += items)
            largest[row * wanted + k] = staged[k];
#else
        local float *bests = staged + length;
        local int *places = (local int *)(bests + items);
        for (uint place = item; place < length; place += items)
            staged[place] = values[row * length + place];
        for (uint k = 0; k < wanted; ++k) {
            barrier(CLK_LOCAL_MEM_FENCE);
            float best = -INFINITY;
            int best_place = -1;
            for (uint place = item; place < length; place += items)
                if (staged[place] > best) {
                    best = staged[place];
                    best_place = place;
                }
            bests[item] = best;
            places[item] = best_place;
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint half_size = items / 2; half_size > 0; half_size /= 2) {
                if (item < half_size && bests[item + half_size] > bests[item]) {
                    bests[item] = bests[item + half_size];
                    places[item] = places[item + half_size];
                }
                barrier(CLK_LOCAL_MEM_FENCE);
            }
            if (item == 0) {
                largest[row * wanted + k] = bests[0];
                staged[places[0]] = -INFINITY;
            }
        }
#endif
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#endif
}
