// Sums of floats are not reordered: rounding would change the result.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

kernel void rounding(global float *to, float a, float b)
{
    to[get_global_id(0)] = (a + b) + 1.0f + (a + (b + 1.0f));
}

// CHECK: float [[SUM:[a-z_0-9]+]] = a + b + 1.0f + (a + (b + 1.0f));
