// An asynchronous copy is done by the whole work-group together: one for all replicas.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

kernel void staged(global const float *from, global float *to, local float *tile)
{
    event_t copied = async_work_group_copy(tile, from + get_group_id(0) * 64, 64, 0);
    wait_group_events(1, &copied);
    to[get_global_id(0)] = tile[63 - get_local_id(0)];
}

// CHECK: = async_work_group_copy(tile, &from[get_group_id(0) * 64], 64, 0);
// CHECK-NOT: async_work_group_copy
// CHECK: wait_group_events(1, &copied);
// CHECK-NOT: wait_group_events
// CHECK: to[global_id_x_2] =
