// A loop in lock-step is left at the start of an iteration that has done nothing yet. Each replica starts that iteration
// again in its turn, with the counter and the sum that it had by then: they are kept, and the sum comes out the same way.
//
// RUN: coarsen apply %s --factor 8 --lock-step always | filecheck %s

kernel void rows(global const float *in, global const uint *first, global float *out, float scale)
{
    uint i = get_global_id(0);
    float sum = 0.0f;
    for (uint j = first[i]; j < first[i + 1]; ++j)
        sum += in[j] * sqrt(scale) + cos(in[j]);
    out[i] = sum;
}

// CHECK: do {
// CHECK-NEXT: uint i_alone = i + replica;
// CHECK-NEXT: float sum_alone = [[SUMS:sum_kept[_2]*]][replica];
// CHECK-NEXT: for (uint j_alone = j_kept{{[_2]*}}[replica]; j_alone < first[i_alone + 1]; ++j_alone) {
// CHECK: }
// CHECK-NEXT: sum_kept{{[_2]*}}[replica] = sum_alone;
// CHECK-NEXT: ++replica;
// CHECK: sum = sum_kept{{[_2]*}}[0];
