// `k` is the same for both replicas while they go round together, but not after the loop: they may have left it in
// different iterations. Each keeps the value with which it left (*temporal divergence*).
//
// RUN: coarsen apply %s --factor 2 --lock-step never | filecheck %s

kernel void first_zero(global const int *in, global int *found)
{
    int row = get_global_id(0);
    int k = 0;
    while (in[row * 8 + k] != 0)
        ++k;
    found[row] = k;
}

// CHECK: int k;
// CHECK-NEXT: for (k = 0; in[row * 8 + k] != 0; ++k) {
// CHECK: int k_2;
// CHECK-NEXT: for (k_2 = 0; in[row_2 * 8 + k_2] != 0; ++k_2) {
// CHECK: found[row] = k;
// CHECK-NEXT: found[row_2] = k_2;
