// Local variables of the kernel are there once for each merged group.
//
// RUN: coarsen apply %s --factor 3 --level group | filecheck %s

kernel void reversed(global int *data)
{
    local int own[64];
    int l = get_local_id(0);
    own[l] = data[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    data[get_global_id(0)] = own[63 - l];
}

// CHECK: local int own[64];
// CHECK-NEXT: local int own_2[64];
// CHECK-NEXT: local int own_3[64];
// CHECK: own[l] =
// CHECK-NEXT: own_2[l] =
// CHECK-NEXT: own_3[l] =
// CHECK-NEXT: barrier(CLK_LOCAL_MEM_FENCE);
// CHECK-NOT: barrier
