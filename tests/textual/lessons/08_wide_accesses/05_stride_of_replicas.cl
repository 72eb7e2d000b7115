// Nor are those of replicas that stand 16 apart.
//
// RUN: coarsen apply %s --factor 4 --stride 16 --wide-accesses -q | filecheck %s

kernel void copy(global const float *from, global float *to)
{
    int x = get_global_id(0);
    to[x] = from[x];
}

// CHECK: x_2 = x + 16;
// CHECK-NOT: vload
// CHECK-NOT: vstore
