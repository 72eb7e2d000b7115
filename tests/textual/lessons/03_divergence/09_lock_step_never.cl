// Without lock-step each replica has a loop of its own, one after the other.
//
// RUN: coarsen apply %s --factor 2 --lock-step never | filecheck %s

kernel void uneven(global const int *lengths, global const float *weights, global float *sums)
{
    int row = get_global_id(0);
    float sum = 0;
    for (int k = 0; k < lengths[row]; ++k)
        sum += weights[k];
    sums[row] = sum;
}

// CHECK: for (int k = 0; k < lengths[row]; ++k) {
// CHECK-NEXT: sum += weights[k];
// CHECK-NEXT: }
// CHECK: for (int k_2 = 0; k_2 < lengths[row_2]; ++k_2) {
// CHECK-NEXT: sum_2 += weights[k_2];
// CHECK-NEXT: }
// CHECK-NEXT: sums[row] = sum;
// CHECK-NEXT: sums[row_2] = sum_2;
