// A small array whose size is known is copied to local memory by each work-group, before the kernel begins: all work-items
// pass there. The loop goes round equally often for all of them, so they may be merged.
//
// RUN: coarsen apply %s --factor 1 --place weights=local --shape weights=9 2>&1 | filecheck %s
// RUN: not coarsen apply %s --factor 1 --place weights=local 2>&1 | filecheck %s --check-prefix UNKNOWN

kernel void smooth(global float *to, global const float *from, global const float *weights)
{
    int x = get_global_id(0);
    if (x == 7) return;
    for (int i = 0; i < 9; ++i)
        to[x] += from[x + i] * weights[i];
}

// CHECK: note: pass for weights a buffer of just 36 bytes, of which each work-group makes a copy, not the memory of to
// CHECK: local float weights_tile[9];
// CHECK: for (ulong [[BASE:[a-z_0-9]+]] = 0UL; [[BASE]] < 9; [[BASE]] += {{[a-z_0-9]+}}) {
// CHECK: if ([[PLACE:[a-z_0-9]+]] < 9) {
// CHECK-NEXT: weights_tile{{.}}[[PLACE]]{{.}} = weights{{.}}[[PLACE]]{{.}};
// CHECK: barrier(CLK_LOCAL_MEM_FENCE);
// CHECK: weights_tile[i]
// UNKNOWN: 03_local.cl:12:{{[0-9]+}}: how much of weights a work-group reads is not known: give the array's shape{{.*}} [place-extent-unknown]
