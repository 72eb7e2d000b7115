// Volatile accesses are done as they stand.
//
// RUN: coarsen apply %s --factor 4 --wide-accesses -q | filecheck %s

kernel void copy(volatile global const float *from, volatile global float *to)
{
    int x = get_global_id(0);
    to[x] = from[x];
}

// CHECK: kernel void copy
// CHECK-NOT: vload
// CHECK-COUNT-4: to[{{.*}}] =
