// A product that accumulates in global memory. The compiler must take it that c may overlap a or b, so that each round
// loads c anew and stores it. With --distinct it may not: the sum is loaded once, kept in a register for each merged
// work-item, and stored once; c is only touched if there is a round at all. What a launch must keep to is said.
//
// RUN: coarsen apply %s --factor 2 --distinct 2>&1 | filecheck %s
// RUN: coarsen apply %s --factor 2 | filecheck %s --check-prefix GENERAL

kernel void product(global const float *a, global const float *b, global float *c, int n)
{
    int x = get_global_id(0), y = get_global_id(1), width = get_global_size(0);
    for (int k = 0; k < n; k++)
        c[y * width + x] += a[y * n + k] * b[k * width + x];
}

// CHECK: note: the memory passed for a must not overlap that for c
// CHECK-NEXT: note: the memory passed for b must not overlap that for c
// CHECK: global const float* restrict a,
// CHECK: global float* restrict c,
// CHECK: if ([[SOME:[a-z_0-9]+]]) {
// CHECK: [[SUM:[a-z_0-9]+]] = c[
// CHECK: [[SUM_2:[a-z_0-9]+]] = c[
// CHECK: for (int k = 0; k < n; ++k) {
// CHECK-NOT: c[
// CHECK: [[SUM]] += [[LOADED:[a-z_0-9]+]] * b[
// CHECK: [[SUM_2]] += [[LOADED]] * b[
// CHECK: if ([[SOME]]) {
// CHECK-NEXT: c[{{.*}}] = [[SUM]];
// CHECK-NEXT: c[{{.*}}] = [[SUM_2]];
//
// GENERAL-NOT: restrict
// GENERAL: for (int k = 0; k < n; ++k) {
// GENERAL: c[{{.*}}] +=
