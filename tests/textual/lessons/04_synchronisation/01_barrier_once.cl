// A barrier waits for the whole work-group. The replicas of a work-item run interleaved, so one barrier does for all of
// them: everything before it is done by every replica, everything after it waits.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

kernel void reversed(global int *data)
{
    local int tile[64];
    int l = get_local_id(0);
    tile[l] = data[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    data[get_global_id(0)] = tile[63 - l];
}

// CHECK: local int tile[64];
// CHECK: tile[l] =
// CHECK-NEXT: tile[l_2] =
// CHECK-NEXT: barrier(CLK_LOCAL_MEM_FENCE);
// CHECK-NOT: barrier
// CHECK: = tile[63 - l_2];
// CHECK-NEXT: data[global_id_x] = tile[63 - l];
// CHECK-NEXT: data[global_id_x_2] =
