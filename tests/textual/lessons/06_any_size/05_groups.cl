// Whole groups can be guarded even so: beyond the border there are only whole groups, and all of their work-items
// return together.
//
// RUN: coarsen apply %s --factor 2 --level group --any-size 2>&1 | filecheck %s

kernel void reversed(global int *data)
{
    local int tile[64];
    int l = get_local_id(0);
    tile[l] = data[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    data[get_global_id(0)] = tile[63 - l];
}

// CHECK: ulong groups = global_size_x / get_local_size(0);
// CHECK: if (group_id_x < groups) {
// CHECK: barrier(CLK_LOCAL_MEM_FENCE);
// CHECK: if (group_id_x_2 < groups) {
// CHECK: barrier(CLK_LOCAL_MEM_FENCE);
