// An index of 64 bits can't wrap: nothing needs to be assumed.
//
// RUN: coarsen apply %s --factor 4 --wide-accesses 2>&1 | filecheck %s

kernel void copy(global const float *from, global float *to)
{
    size_t x = get_global_id(0);
    to[x] = from[x];
}

// CHECK-NOT: note
// CHECK: float4 [[WIDE:[a-z_0-9]+]] = vload4(0, &from[global_id_x]);
// CHECK-NEXT: vstore4([[WIDE]], 0, &to[global_id_x]);
