// A condition on positions nearly always holds for all merged work-items or for none: `i < count` parts only those at
// the border. So a test of all conditions leads to a *fast path*, in which the replicas are interleaved and share
// what they have in common; the *slow path*, for the border, has a copy for each.
// (The literature calls such a test BOSCC: branch on superword condition code.)
//
// RUN: coarsen apply %s --factor 2 | filecheck %s
// RUN: coarsen apply %s --factor 2 --report | filecheck %s --check-prefix REPORT

kernel void guarded(global const float *in, global float *out, uint count, float scale)
{
    uint i = get_global_id(0);
    if (i < count)
        out[i] = in[i] * sqrt(scale) + in[i + 1] * cos(scale) + in[i + 2];
}

// CHECK: bool [[C1:[a-z_0-9]+]] = i < count;
// CHECK-NEXT: bool [[C2:[a-z_0-9]+]] = i_2 < count;
//
// The fast path: everything that both need, sqrt and cos too, is computed once.
// CHECK-NEXT: if ([[C1]] & [[C2]]) {
// CHECK: = sqrt(scale);
// CHECK: = cos(scale);
// CHECK: out[i] =
// CHECK-NEXT: out[i_2] =
//
// The slow path, if any of them goes in: a loop with one turn for each, which asks for its own condition.
// CHECK-NEXT: } else if ([[C1]] || [[C2]]) {
// CHECK: uint i_alone = i + replica;
// CHECK-NEXT: if (i_alone < count) {
// CHECK-NEXT: out[i_alone] =
//
// REPORT: 12:11 13 fast path
// REPORT-NOT: Why not more
