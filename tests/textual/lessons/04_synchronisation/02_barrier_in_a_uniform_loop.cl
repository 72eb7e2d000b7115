// The same in a loop that all work-items go through together.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

kernel void halving(global float *data, local float *tile)
{
    uint l = get_local_id(0);
    tile[l] = data[get_global_id(0)];
    for (uint half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < half_size)
            tile[l] += tile[l + half_size];
    }
    if (l == 0)
        data[get_group_id(0)] = tile[0];
}

// The loop starts from the original local size.
// CHECK: ulong local_size_x = get_local_size(0) * 2;
// CHECK: for (uint half_size = local_size_x / 2; half_size > 0; half_size /= 2) {
// CHECK-NEXT: barrier(CLK_LOCAL_MEM_FENCE);
// CHECK-NEXT: if (l < half_size) {
// CHECK: if (l_2 < half_size) {
// CHECK-NOT: barrier
//
// Of the two replicas only the first can be work-item 0 (known bits: the second one's id is odd).
// CHECK: if (l == 0) {
// CHECK-NOT: l_2
