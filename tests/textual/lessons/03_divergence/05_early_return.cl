// An early return is a branch around all the rest of the kernel, and gets a fast path like any guard by position.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

kernel void early(global const float *in, global float *out, uint count, int steps)
{
    uint i = get_global_id(0);
    if (i >= count)
        return;
    float value = in[i];
    for (int k = 0; k < steps; ++k)
        value = value * 0.5f + in[k];
    out[i] = value;
}

// CHECK: bool [[C1:[a-z_0-9]+]] = i >= count;
// CHECK: bool [[C2:[a-z_0-9]+]] = i_2 >= count;
//
// If any of them returns early: the slow path for the others, unless all return.
// CHECK: if ([[C1]] || [[C2]]) {
// CHECK: if (!([[C1]] & [[C2]])) {
// CHECK: i_alone < count
//
// If none does: one loop for both, with one load of in[k].
// CHECK: } else {
// CHECK: for (int k = 0; k < steps; ++k) {
// CHECK-NEXT: float [[IN:[a-z_0-9]+]] = in[k];
// CHECK-NEXT: value = value * 0.5f + [[IN]];
// CHECK-NEXT: value_2 = value_2 * 0.5f + [[IN]];
