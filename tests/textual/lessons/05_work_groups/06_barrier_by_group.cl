// A condition on the group alone is the same for all work-items of a group. Merged *work-items* see a uniform branch
// there; merged *groups* may part, and a copy of the region may hold a barrier: all work-items of the group are in the
// same copy. A barrier after each copy keeps the barriers apart for devices that get them wrong otherwise.
//
// RUN: coarsen apply %s --factor 2 --level group | filecheck %s
// RUN: coarsen apply %s --factor 2 --level item | filecheck %s --check-prefix ITEM

kernel void by_group(global int *data, global const int *wanted)
{
    local int tile[64];
    int l = get_local_id(0);
    if (wanted[get_group_id(0)] > 0) {
        tile[l] = data[get_global_id(0)];
        barrier(CLK_LOCAL_MEM_FENCE);
        data[get_global_id(0)] = tile[63 - l];
    }
}

// CHECK: if (wanted[group_id_x] > 0) {
// CHECK-NEXT: tile[l] =
// CHECK-NEXT: barrier(CLK_LOCAL_MEM_FENCE);
// CHECK-NEXT: data[global_id_x] =
// CHECK-NEXT: }
// CHECK-NEXT: barrier(CLK_LOCAL_MEM_FENCE);
// CHECK-NEXT: if ({{.*}} > 0) {
// CHECK-NEXT: tile_2[l] =
// CHECK-NEXT: barrier(CLK_LOCAL_MEM_FENCE);
// CHECK-NEXT: data[global_id_x_2] =
// CHECK-NEXT: }
// CHECK-NEXT: barrier(CLK_LOCAL_MEM_FENCE);
//
// ITEM: if (wanted[get_group_id(0)] > 0) {
// ITEM: tile[l] =
// ITEM-NEXT: tile[l_2] =
// ITEM-NEXT: barrier(CLK_LOCAL_MEM_FENCE);
// ITEM-NOT: barrier
// ITEM-NOT: if
