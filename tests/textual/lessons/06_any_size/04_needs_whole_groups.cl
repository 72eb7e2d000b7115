// Where it matters to the kernel which work-items form a group there is no guard: a group at the border would have
// fewer of them than the original's.
//
// RUN: not coarsen apply %s --factor 2 --any-size 2>&1 | filecheck %s

kernel void reversed(global int *data, local int *tile)
{
    int l = get_local_id(0);
    tile[l] = data[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    data[get_global_id(0)] = tile[get_local_size(0) - 1 - l];
}

// CHECK: error: the argument 'tile' is memory of a whole work-group, so a size that does not divide can't be launched with work-groups of another size [needs-whole-groups]
