// A group reads each element of `a` and `b` in a trip several times. Before every eight trips it copies the rows that they
// read, two barriers around: the first waits for those that still read the last ones. What is left of the loop, fewer than
// eight trips, is as written.
//
// RUN: coarsen apply %s --factor 2 --stride 8 --local-size 16x8 --tile 8 2>&1 | filecheck %s

kernel void product(global const float *a, global const float *b, global float *c, int n)
{
    int x = get_global_id(0), y = get_global_id(1);
    float sum = 0;
    for (int k = 0; k < n; ++k)
        sum += a[x + k * 64] * b[y + k * 64];
    c[x + y * 64] = sum;
}

// CHECK: note: the memory passed for a must not overlap that for c
// CHECK: reqd_work_group_size(8, 8, 1)
// CHECK: local float a_tile[128];
// CHECK: local float b_tile[64];
// CHECK: >= n || {{[a-z_0-9]+}} <= 7) {
// CHECK-NEXT: break;
// CHECK: loaded = a[
// CHECK: barrier(CLK_LOCAL_MEM_FENCE);
// CHECK-NEXT: a_tile[{{[a-z_0-9]+}}] = loaded;
// CHECK: barrier(CLK_LOCAL_MEM_FENCE);
// CHECK-NEXT: opencl_unroll_hint(4)
// CHECK-NEXT: != 8;
// CHECK: a_tile[
// CHECK: while ({{.*}} < n) {
// CHECK: = b[y +
