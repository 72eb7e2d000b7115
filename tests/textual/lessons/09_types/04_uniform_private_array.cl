// A private array that all work-items fill alike is there once.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

kernel void powers(global int *out, int base)
{
    int power[8];
    power[0] = 1;
    for (int k = 1; k < 8; ++k)
        power[k] = power[k - 1] * base;
    out[get_global_id(0)] = power[get_local_id(0) & 7];
}

// CHECK: int power[8];
// CHECK-NOT: int power
// CHECK-COUNT-1: for
// CHECK: power[k] = power[k - 1] * base;
// CHECK: = power[local_id_x_2 & 7];
// CHECK: out[global_id_x] = power[local_id_x & 7];
