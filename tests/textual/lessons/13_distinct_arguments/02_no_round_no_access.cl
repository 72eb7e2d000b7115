// A work-item without a round neither loads nor stores: places[x] may lead out of the buffer then, or to a number that
// another work-item owns. The first test of the loop, which each work-item has for itself, guards both. A loop that runs
// at least once needs no guard.
//
// RUN: coarsen apply %s --factor 2 --distinct -k skipping | filecheck %s
// RUN: coarsen apply %s --factor 2 --distinct -k at_least_once | filecheck %s --check-prefix ONCE

kernel void skipping(global const int *counts, global const int *places, global int *sums)
{
    int x = get_global_id(0), count = counts[x], place = places[x];
    for (int k = 0; k < count; k++)
        sums[place] += k ^ x;
}

kernel void at_least_once(global const int *counts, global int *sums)
{
    int x = get_global_id(0), k = 0;
    do
        sums[x] += k ^ x;
    while (++k < 10);
}

// CHECK: [[SOME:[a-z_0-9]+]] = count > 0;
// CHECK: if ([[SOME]]) {
// CHECK: [[SUM:[a-z_0-9]+]] = sums[place];
// CHECK: [[SUM]] += k ^ x;
// CHECK: if ([[SOME]]) {
// CHECK-NEXT: sums[place] = [[SUM]];
//
// ONCE: int [[SUM:[a-z_0-9]+]] = sums[x];
// ONCE: int [[SUM_2:[a-z_0-9]+]] = sums[x_2];
// ONCE: } while (
// ONCE-NEXT: sums[x] = [[SUM]];
// ONCE-NEXT: sums[x_2] = [[SUM_2]];
