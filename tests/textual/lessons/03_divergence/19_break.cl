// A store in front of a break forbids lock-step, and each replica runs through a loop of its own.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

kernel void until_negative(global const int *in, global int *out, int n)
{
    int row = get_global_id(0);
    for (int k = 0; k < n; ++k) {
        int value = in[row + k];
        out[row] = value;
        if (value < 0)
            break;
    }
}

// CHECK: for (int k = 0; k < n; ++k) {
// CHECK: out[row] = value;
// CHECK: break;
// CHECK: for (int k_2 = 0; k_2 < n; ++k_2) {
// CHECK: out[row_2] = value_2;
// CHECK: break;
