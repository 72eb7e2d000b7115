// A loop inside of a guard: the guard gets a fast path, and in it the loop goes in lock-step.
//
// RUN: coarsen apply %s --factor 2 --report | filecheck %s

kernel void nested(global const int *lengths, global const float *weights, global float *sums, int rows)
{
    int row = get_global_id(0);
    if (row < rows) {
        float sum = 0;
        for (int k = 0; k < lengths[row]; ++k)
            sum += weights[k] * weights[k + 1];
        sums[row] = sum;
    }
}

// Nested regions are indented in the report.
// CHECK: factor 2 along dimension 0: 1 divergent region and 1 nested
// CHECK: 8:13 10–13 fast path
// CHECK-NEXT: 10:9 10–11 lock-step
