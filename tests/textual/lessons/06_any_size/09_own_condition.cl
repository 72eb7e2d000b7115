// A condition with which the kernel begins becomes a part of the guard: merged work-items part in one place, so
// that they are interleaved where all of them have something to do.
//
// RUN: coarsen apply %s --factor 2 --any-size | filecheck %s

kernel void sums(global const float *a, global float *out, int n, int m)
{
    int x = get_global_id(0);
    if (x < n) {
        float sum = 0;
        for (int k = 0; k < m; ++k)
            sum += a[k * n + x];
        out[x] = sum;
    }
}

// CHECK: bool [[FIRST:inside[_0-9]*]] = {{.*}} < global_size_x && x < n;
// CHECK: bool [[SECOND:inside[_0-9]*]] = {{.*}} < global_size_x && x_2 < n;
// CHECK: if ([[FIRST]] & [[SECOND]]) {
// CHECK: for (int k = 0; k < m; ++k) {
// CHECK: sum_2 +=
// CHECK: else if ([[FIRST]] || [[SECOND]])
