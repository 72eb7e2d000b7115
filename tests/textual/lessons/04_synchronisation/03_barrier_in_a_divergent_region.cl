// Copies run one after the other. A barrier in them would make the first replica wait for the second, which comes
// after it, for ever: refused. Here a jump leads into the region from its side, past the barrier.
//
// RUN: not coarsen apply %s --factor 2 2>&1 | filecheck %s

kernel void from_the_side(global const int *data, global int *result, int limit, local int *tile)
{
    int l = get_local_id(0), i = get_global_id(0);
    int value = data[i];
    tile[l] = value;
    if (limit > 400)
        goto inside;
    barrier(CLK_LOCAL_MEM_FENCE);
    value += tile[l ^ 1];
    if (data[i] > limit) {
    inside:
        value *= 2;
    }
    result[i] = value;
}

// CHECK: 03_barrier_in_a_divergent_region.cl:13:5: control flow around this barrier can't be separated from a divergent branch [barrier-in-divergent-region]
