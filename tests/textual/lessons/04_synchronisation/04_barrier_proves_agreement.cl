// A barrier under a condition must be reached by all work-items of a group or by none, says OpenCL. So a condition on
// data that decides about a barrier is taken to be the same for all of the group, and `coarsen apply` says that it was.
//
// RUN: coarsen apply %s --factor 2 2>&1 | filecheck %s

kernel void halves(global int *values, local int *tile)
{
    int item = get_local_id(0);
    tile[item] = values[item];
    if (values[item] >= 0) {
        barrier(CLK_LOCAL_MEM_FENCE);
        values[item] = tile[get_local_size(0) - 1 - item];
    }
}

// CHECK: note: {{.*}}04_barrier_proves_agreement.cl:10:22: a barrier depends on this condition: taken as the same for the whole work-group
//
// The first replica's condition decides for both.
// CHECK: if (values[item] >= 0) {
// CHECK-NEXT: barrier(CLK_LOCAL_MEM_FENCE);
// CHECK-NOT: if
// CHECK: values[item] =
// CHECK-NEXT: values[item_2] =
