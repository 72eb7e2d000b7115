// Neighbours in falling order are one access whose elements are taken in the other order.
//
// RUN: coarsen apply %s --factor 4 --wide-accesses -q | filecheck %s

kernel void reverse(global const float *from, global float *to)
{
    int x = get_global_id(0);
    to[x] = from[63 - x];
}

// The last replica's element has the lowest address.
// CHECK: [[LAST:x_[0-9]]] = (uint)x + 3;
// CHECK: float4 [[WIDE:[a-z_0-9]+]] = vload4(0, &from[(int)(63 - [[LAST]])]);
// CHECK: (float4)([[WIDE]].w, [[WIDE]].z, [[WIDE]].y, [[WIDE]].x);
// CHECK: vstore4({{.*}}, 0, &to[x]);
