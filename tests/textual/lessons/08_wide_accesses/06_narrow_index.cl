// An index of 8 bits wraps round in the middle of four neighbours: its loads stay apart.
//
// RUN: coarsen apply %s --factor 4 --wide-accesses -q | filecheck %s

kernel void wrapped(global const float *from, global float *to)
{
    int x = get_global_id(0);
    to[x] = from[(uchar)(x + 250)];
}

// CHECK-NOT: vload
// CHECK: float4 [[WIDE:[a-z_0-9]+]] = (float4)(from[(uchar)(x + 250)], from[(uchar)(x_2 + 250)], from[(uchar)(x_3 + 250)],
// CHECK: vstore4([[WIDE]], 0, &to[x]);
