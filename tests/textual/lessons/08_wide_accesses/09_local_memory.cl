// Local memory is read and written wide as well, on both sides of a barrier.
//
// RUN: coarsen apply %s --factor 4 --wide-accesses -q | filecheck %s

kernel void reversed(global const float *from, global float *to)
{
    local float tile[32];
    int x = get_global_id(0), l = get_local_id(0);
    tile[l] = from[x];
    barrier(CLK_LOCAL_MEM_FENCE);
    to[x] = tile[31 - l];
}

// CHECK: vload4(0, &from[x]);
// CHECK-NEXT: vstore4({{.*}}, 0, &tile[l]);
// CHECK-NEXT: barrier(CLK_LOCAL_MEM_FENCE);
// CHECK-NEXT: = vload4(0, &tile[{{.*}}]);
// CHECK: vstore4({{.*}}, 0, &to[x]);
