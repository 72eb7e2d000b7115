// Where reads stand behind a condition, an element is copied if a work-item that reads it meets the condition, which is computed
// anew for that work-item. All work-items of the group copy, and wait at the barrier, before any of them leaves.
//
// RUN: coarsen apply %s --factor 1 --place from=local 2>&1 | filecheck %s

kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void inside(global int *to, global const int *from, int n)
{
    int x = get_global_id(0);
    if (x + 1 >= n) return;
    to[x] = from[x] + from[x + 1];
}

// CHECK: local int from_tile[65];
// CHECK: if (((value_4 < get_local_size(0)) & ((int)((uint)(get_global_id(0) - get_local_id(0)
// CHECK-NEXT: + value_4) + 1) < n)) || ((value_5 < get_local_size(0)) & ((int)((uint)(get_global_id(0)
// CHECK-NEXT: - get_local_id(0) + value_5) + 1) < n))) {
// CHECK-NEXT: from_tile[value_3] = from[
// CHECK: barrier(CLK_LOCAL_MEM_FENCE);
// CHECK: if (x + 1 < n) {
// CHECK-NEXT: to[x] = from_tile[get_local_id(0)] + from_tile[get_local_id(0) + 1];
