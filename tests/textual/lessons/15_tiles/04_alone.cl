// A tile is worth something without coarsening, too: nothing is merged, and the launch is as it was. A kernel that demands its
// local size has tiles for that size.
//
// RUN: coarsen apply %s --tile 8 2>&1 | filecheck %s

kernel __attribute__((reqd_work_group_size(8, 8, 1)))
void k(global int *to, global const int *a, int n)
{
    int x = get_global_id(0), y = get_global_id(1), sum = 0;
    for (int k = 0; k < n; ++k) sum += a[k * n + x] ^ a[k * n + y];
    to[y * n + x] = sum;
}

// CHECK: kernel __attribute__((reqd_work_group_size(8, 8, 1)))
// CHECK: barrier(CLK_LOCAL_MEM_FENCE);
// CHECK-NEXT: a_tile[value] = loaded;
// CHECK-NEXT: a_tile_[value] = loaded_2;
// CHECK-NEXT: barrier(CLK_LOCAL_MEM_FENCE);
// CHECK: for (int merged = 0; merged != 8; merged = (uint)merged + 1) {
// CHECK-NEXT: k_2 += a_tile_[(long)merged * 8 + get_local_id(0)] ^ a_tile[(long)merged * 8 + get_local_id(1)];
