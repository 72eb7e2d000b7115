// A load must not move over a store that may write what it reads. With restrict the two can't meet, and the neighbours
// of all replicas come in two accesses.
//
// RUN: coarsen apply %s --factor 4 --wide-accesses -q --kernel may_alias | filecheck %s --check-prefix ALIAS
// RUN: coarsen apply %s --factor 4 --wide-accesses -q --kernel restricted | filecheck %s --check-prefix RESTRICT

kernel void may_alias(global const float *from, global float *to)
{
    int x = get_global_id(0);
    to[x] = from[x];
    to[x + 64] = from[x + 1];
}

kernel void restricted(global const float *restrict from, global float *restrict to)
{
    int x = get_global_id(0);
    to[x] = from[x];
    to[x + 64] = from[x + 1];
}

// ALIAS: [[A:[a-z_0-9]+]] = vload4(0, &from[x]);
// ALIAS-NEXT: vstore4({{.*}}, 0, &to[x]);
// ALIAS-NEXT: [[B:[a-z_0-9]+]] = vload4(0, &from[x_2]);
// ALIAS-NEXT: vstore4({{.*}}, 0, &to[x + 64]);
//
// RESTRICT: float4 [[WIDE:[a-z_0-9]+]] = vload4(0, &from[x]);
// RESTRICT-NOT: vload
// RESTRICT: (float4)([[WIDE]].y, [[WIDE]].z, [[WIDE]].w, from[
