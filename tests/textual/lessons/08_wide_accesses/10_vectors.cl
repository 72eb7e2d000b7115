// Two replicas' float2 are one float4.
//
// RUN: coarsen apply %s --factor 2 --wide-accesses -q | filecheck %s

kernel void pairs(global const float2 *from, global float2 *to)
{
    int x = get_global_id(0);
    to[x] = from[x] + 1.0f;
}

// CHECK: float4 [[WIDE:[a-z_0-9]+]] = vload4(0, (global const float*)&from[x]);
// CHECK: (float4)([[WIDE]].xy + 1.0f, [[WIDE]].zw + 1.0f);
// CHECK: vstore4({{.*}}, 0, (global float*)&to[x]);
