// The slow path is for the border, so it should be short rather than fast. Where the copies differ only in where they
// stand, it is a loop with one turn for each replica (*replica loop*): here one of 8 turns in place of 8 copies.
//
// RUN: coarsen apply %s --factor 8 | filecheck %s

kernel void border(global const float *in, global float *out, uint count, float scale)
{
    uint i = get_global_id(0);
    if (i < count)
        out[i] = in[i] * sqrt(scale) + in[i + 1] * cos(scale) + in[i + 2];
}

// CHECK-COUNT-7: &
// CHECK: out[i_8] =
// CHECK-NEXT: } else if
// CHECK: uint replica = 0u;
// CHECK-NEXT: do {
// CHECK-NEXT: uint i_alone = i + replica;
// CHECK-NEXT: if (i_alone < count) {
// CHECK-NEXT: out[i_alone] =
// CHECK-NEXT: }
// CHECK-NEXT: ++replica;
// CHECK-NEXT: } while (replica < 8);
