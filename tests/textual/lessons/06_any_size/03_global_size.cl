// get_global_size is what the kernel is told, not what the launch was rounded up to.
//
// RUN: coarsen apply %s --factor 2 --any-size | filecheck %s

kernel void mirrored(global const int *from, global int *to)
{
    to[get_global_id(0)] = from[get_global_size(0) - 1 - get_global_id(0)];
}

// CHECK-NOT: get_global_size
// CHECK: to[global_id_x] = from[global_size_x - 1 - global_id_x];
// CHECK: to[global_id_x_2] = from[global_size_x - 1 - global_id_x_2];
// CHECK-NOT: get_global_size
