// The guard is a condition on positions, so a kernel that is worth it gets a fast path: work-items well inside run
// interleaved, only those at the border are asked one by one.
//
// RUN: coarsen apply %s --factor 4 --any-size | filecheck %s

kernel void smooth(global const float *from, global const float *weights, global float *to, int radius)
{
    size_t i = get_global_id(0);
    float sum = 0;
    for (int k = 0; k < radius; ++k)
        sum += from[i + k] * weights[k];
    to[i] = sum;
}

// CHECK: bool [[C1:[a-z_0-9]+]] = position < global_size_x;
// CHECK: if ([[C1]] &
// CHECK: for (int k = 0; k < radius; ++k) {
// CHECK: float [[WEIGHT:[a-z_0-9]+]] = weights[k];
// CHECK-NOT: weights
// CHECK: to[global_id_x_4] =
// CHECK-NEXT: } else if ([[C1]] ||
