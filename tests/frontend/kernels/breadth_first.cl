// One level of a breadth-first search; a node is claimed by compare-and-exchange.
kernel void breadth_first(global const int *first_edge, global const int *edges, volatile global int *level,
                          volatile global int *reached, int current, int nodes) {
    const int node = get_global_id(0);
    if (node < nodes && level[node] == current) {
        for (int i = first_edge[node]; i < first_edge[node + 1]; ++i) {
            const int neighbour = edges[i];
            if (atomic_cmpxchg(&level[neighbour], -1, current + 1) == -1) {
                atomic_add(reached, 1);
            }
        }
    }
}
