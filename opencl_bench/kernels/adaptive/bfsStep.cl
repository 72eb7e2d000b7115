/*
 * One step of a breadth-first search: which nodes that were not seen yet has an edge from the frontier.
 *
 * Origin: written for this suite, after Beamer, Asanović, Patterson, "Direction-optimizing breadth-first search", 2012.
 * IMPL 0: a work-item for each node of the frontier, a list, goes through its edges (top-down).
 * IMPL 1: LANES work-items for each node of the frontier.
 * IMPL 2: a work-item for each node that was not seen looks for an edge from the frontier, a bitmap (bottom-up).
 * Before IMPL 0 and 1, bfsStep_zero clears the result.
 * Threads: 1-D, guarded.
 */
#ifndef IMPL
#define IMPL 0
#endif
#ifndef LANES
#define LANES 8
#endif

kernel void bfsStep(global const int *starts, global const int *targets, global const int *in_starts,
                    global const int *sources, global const int *frontier, global const uint *in_frontier,
                    global const int *seen, uint nodes, uint edges, uint frontier_nodes, global int *reached)
{
#if IMPL == 2
    uint node = get_global_id(0);
    if (node >= nodes)
        return;
    int found = 0;
    if (!seen[node])
        for (int edge = in_starts[node]; edge < in_starts[node + 1] && !found; ++edge)
            found = in_frontier[sources[edge] / 32] >> (sources[edge] % 32) & 1;
    reached[node] = found;
#else
    uint ways = IMPL == 0 ? 1 : LANES;
    uint place = get_global_id(0) / ways;
    if (place >= frontier_nodes)
        return;
    int node = frontier[place];
    for (int edge = starts[node] + (int)(get_global_id(0) % ways); edge < starts[node + 1]; edge += ways)
        if (!seen[targets[edge]])
            atomic_xchg(reached + targets[edge], 1);
#endif
}

/* Threads: 1-D, a work-item per node, guarded. */
kernel void bfsStep_zero(global int *reached, uint nodes)
{
    if (get_global_id(0) < nodes)
        reached[get_global_id(0)] = 0;
}
