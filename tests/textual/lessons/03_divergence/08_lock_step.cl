// A loop whose length depends on the work-item goes in *lock-step*: one iteration of each replica, interleaved, for as
// long as none of them leaves it. Then the rest of each runs alone.
//
// Sharing pays here: `weights[k]` is loaded once for both.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s
// RUN: coarsen apply %s --factor 2 --report | filecheck %s --check-prefix REPORT

kernel void uneven(global const int *lengths, global const float *weights, global float *sums)
{
    int row = get_global_id(0);
    float sum = 0;
    for (int k = 0; k < lengths[row]; ++k)
        sum += weights[k];
    sums[row] = sum;
}

// One loop for both, as long as both conditions hold.
// CHECK: while (true) {
// CHECK: [[C1:[a-z_0-9]+]] = k < lengths[row];
// CHECK: [[C2:[a-z_0-9]+]] = k < lengths[row_2];
// CHECK: if (!([[C1]] & [[C2]])) {
// CHECK-NEXT: break;
//
// Their sums are equal so far, since they add the same weights: one variable does for both.
// CHECK: sum += weights[k];
// CHECK-NEXT: ++k;
//
// Then each goes on by itself, unless both are done.
// CHECK: if ([[C1]] || [[C2]]) {
// CHECK: for (int k_alone = k; k_alone < lengths[row]; ++k_alone) {
// CHECK: while (k < lengths[row_2]) {
// CHECK: sums[row] =
// CHECK-NEXT: sums[row_2] =
//
// REPORT: 13:10 13–14 lock-step
