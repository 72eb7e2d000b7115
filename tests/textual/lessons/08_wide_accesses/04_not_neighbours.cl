// Elements two apart are no neighbours: nothing is merged.
//
// RUN: coarsen apply %s --factor 4 --wide-accesses -q | filecheck %s

kernel void every_second(global const float *from, global float *to)
{
    int x = get_global_id(0);
    to[2 * x] = from[2 * x];
}

// CHECK: kernel void every_second
// CHECK-NOT: vload
// CHECK-NOT: vstore
