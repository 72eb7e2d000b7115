// Both levels together: first groups are merged, then the work-items inside.
//
// RUN: coarsen apply %s --factor 2 --level group --dim 0 --factor 2 --level item --dim 0 | filecheck %s

kernel void reversed(global int *data)
{
    local int own[64];
    int l = get_local_id(0);
    own[l] = data[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    data[get_global_id(0)] = own[63 - l];
}

// Two groups with local memory each, and two work-items of each.
// CHECK: local int own[64];
// CHECK-NEXT: local int own_2[64];
// CHECK-NOT: local int own
// CHECK: ulong local_size_x = get_local_size(0) * 2;
// CHECK: own[l] =
// CHECK-NEXT: own[l_2] =
// CHECK-NEXT: own_2[l] =
// CHECK-NEXT: own_2[l_2] =
// CHECK-NEXT: barrier(CLK_LOCAL_MEM_FENCE);
