/*
 * One pass of the Floyd-Warshall algorithm: shortest distances when paths may also go through one more node.
 *
 * Origin: AMD APP SDK, FloydWarshall; written anew. The host launches it once for each node.
 * Threads: 2-D, one work-item per pair of nodes; dimension 0 is the target, dimension 1 the source. No
 * guard: the NDRange is exactly node_count by node_count. One load is uniform along dimension 0, another
 * along dimension 1.
 */
kernel void floydWarshall(global uint *distances, global uint *paths, uint node_count, uint through)
{
    uint target = get_global_id(0);
    uint source = get_global_id(1);
    uint pair = source * node_count + target;
    uint known = distances[pair];
    uint detour = distances[source * node_count + through] + distances[through * node_count + target];
    if (detour < known) {
        distances[pair] = detour;
        paths[pair] = through;
    }
}
