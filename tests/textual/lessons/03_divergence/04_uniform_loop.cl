// So does a loop whose length all work-items share. What its iterations load alike, `weights[k]`, is loaded once for
// all replicas: the most common gain of coarsening.
//
// RUN: coarsen apply %s --factor 4 | filecheck %s

kernel void weighted(global const float *rows, global const float *weights, global float *sums, int width)
{
    int row = get_global_id(0);
    float sum = 0;
    for (int k = 0; k < width; ++k)
        sum += rows[k * width + row] * weights[k];
    sums[row] = sum;
}

// CHECK-COUNT-1: for (int k = 0; k < width; ++k) {
// CHECK: float [[WEIGHT:[a-z_0-9]+]] = weights[k];
// CHECK-NOT: weights
// CHECK: sum += rows[{{.*}} + row] * [[WEIGHT]];
// CHECK-NEXT: sum_2 += rows[{{.*}} + row_2] * [[WEIGHT]];
// CHECK-NEXT: sum_3 += rows[{{.*}} + row_3] * [[WEIGHT]];
// CHECK-NEXT: sum_4 += rows[{{.*}} + row_4] * [[WEIGHT]];
// CHECK-NEXT: }
// CHECK-NOT: for
