// Under a guard some work-items of a group may stay away, so no barrier may stand there. A vote tells whether all of them go
// inside: each takes its own answer from what the group shares, between two barriers that all come to. Groups that go
// inside together have the loop with tiles, others as written.
//
// RUN: coarsen apply %s --factor 4 --dim 1 --local-size 16x16 --tile 16 2>&1 | filecheck %s

kernel void product(global const float *a, global const float *b, global float *c, int n)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x < n) {
        float sum = 0;
        for (int k = 0; k < n; ++k)
            sum += a[x + k * 64] * b[y + k * 64];
        c[x + y * 64] = sum;
    }
}

// CHECK: apart = 1;
// CHECK-NEXT: barrier(CLK_LOCAL_MEM_FENCE);
// CHECK-NEXT: atomic_and(
// CHECK-NEXT: barrier(CLK_LOCAL_MEM_FENCE);
// CHECK: if (apart != 0) {
// CHECK: a_tile[
// CHECK: } else if (
// CHECK-NOT: a_tile[
