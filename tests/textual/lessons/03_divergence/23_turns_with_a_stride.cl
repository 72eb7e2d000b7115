// The replicas of an id stand a stride apart, and so do the ids of the turns. An id of 64 bits counts in 64 bits.
//
// RUN: coarsen apply %s --factor 8 --stride 2 --fast-path always | filecheck %s

kernel void border(global const float *in, global float *out, ulong count, float scale)
{
    size_t i = get_global_id(0);
    if (i < count)
        out[i] = in[i] * sqrt(scale) + in[i + 1] * cos(scale) + in[i + 2];
}

// CHECK: do {
// CHECK-NEXT: ulong i_offset = ({{u?}}long)replica * 2;
// CHECK-NEXT: ulong i_alone = global_id_x + i_offset;
// CHECK-NEXT: if (i_alone < count) {
// CHECK-NEXT: out[i_alone] =
