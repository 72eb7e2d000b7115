// So may a barrier: other work-items store before they get there.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

kernel void twice(local int *tile, global int *to)
{
    int first = tile[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    int second = tile[0];
    to[get_global_id(0)] = first * 10 + second;
}

// CHECK: int first = *tile;
// CHECK-NEXT: barrier(CLK_LOCAL_MEM_FENCE);
// CHECK-NEXT: int second = *tile;
// CHECK: first * 10 + second
