/*
 * The nearest of some centroids for each point; of several equally near ones the first.
 *
 * Origin: the task of kmeans in Rodinia (Che and others, 2009); written anew.
 * The points' coordinates stand one after the other, each for all points; the centroids' side by side.
 * IMPL 0: centroids from global memory. IMPL 1: TILE of them at a time are copied into local memory.
 * EACH: the points of a work-item, which stand a work-group apart.
 * Threads: 1-D, guarded. Local memory: TILE centroids (IMPL 1).
 */
#ifndef IMPL
#define IMPL 0
#endif
#ifndef TILE
#define TILE 16
#endif
#ifndef EACH
#define EACH 1
#endif

kernel void kmeansAssign(global const float *points, global const float *centroids, uint n, uint k, uint d,
                         global int *nearest, local float *tile)
{
    uint items = get_local_size(0);
    uint first = get_group_id(0) * items * EACH + get_local_id(0);
    float bests[EACH];
    int found[EACH];
    for (uint turn = 0; turn < EACH; ++turn) {
        bests[turn] = INFINITY;
        found[turn] = 0;
    }
#if IMPL == 1
    for (uint start = 0; start < k; start += TILE) {
        uint end = min(k, start + TILE);
        for (uint place = get_local_id(0); place < (end - start) * d; place += items)
            tile[place] = centroids[start * d + place];
        barrier(CLK_LOCAL_MEM_FENCE);
        local const float *from = tile;
#else
    {
        uint start = 0;
        uint end = k;
        global const float *from = centroids;
#endif
        for (uint turn = 0; turn < EACH; ++turn) {
            uint point = first + turn * items;
            if (point < n)
                for (uint centroid = start; centroid < end; ++centroid) {
                    float distance = 0.0f;
                    for (uint axis = 0; axis < d; ++axis) {
                        float difference = points[axis * n + point] - from[(centroid - start) * d + axis];
                        distance += difference * difference;
                    }
                    if (distance < bests[turn]) {
                        bests[turn] = distance;
                        found[turn] = centroid;
                    }
                }
        }
#if IMPL == 1
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
    for (uint turn = 0; turn < EACH; ++turn)
        if (first + turn * items < n)
            nearest[first + turn * items] = found[turn];
}
