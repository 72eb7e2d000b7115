// The sum stays in the register through the outer loop as well. That the inner one runs at all is known before the outer
// one, since it depends on nothing in it: both tests together guard the accesses.
//
// RUN: coarsen apply %s --factor 2 --distinct | filecheck %s

kernel void tiles(global const float *from, global float *sums, int tiles, int n)
{
    int x = get_global_id(0);
    for (int tile = 0; tile < tiles; tile++)
        for (int k = 0; k < n; k++)
            sums[x] += from[tile * n + k];
}

// CHECK: bool [[BOTH:[a-z_0-9]+]] = tiles > 0 && [[INNER:[a-z_0-9]+]];
// CHECK: if ([[BOTH]]) {
// CHECK-NEXT: = sums[x];
// CHECK-NEXT: = sums[x_2];
// CHECK: for (int tile = 0;
// CHECK-NOT: sums[
// CHECK: if ([[BOTH]]) {
// CHECK-NEXT: sums[x] =
// CHECK-NEXT: sums[x_2] =
