/*
 * One level of a breadth-first search: nodes on the level give theirs plus one to neighbours that have none.
 *
 * Kind: graphs in compressed rows; written for the second judge.
 * Threads: 1-D, one work-item per node, guarded. Several may write a neighbour's level at once, all the same. The
 * host launches a step per level.
 */
kernel void bfs_level(global const int *starts, global const int *targets, global int *levels, int nodes,
                      int level)
{
    int node = get_global_id(0);
    if (node >= nodes || levels[node] != level)
        return;
    for (int edge = starts[node]; edge < starts[node + 1]; edge++) {
        int target = targets[edge];
        if (levels[target] < 0)
            levels[target] = level + 1;
    }
}
