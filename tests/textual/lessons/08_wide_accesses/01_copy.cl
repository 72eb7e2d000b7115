// With --wide-accesses four loads of neighbouring addresses become one vload4, four stores one vstore4. What must hold
// for the indices not to wrap round is said.
//
// RUN: coarsen apply %s --factor 4 --wide-accesses 2>&1 | filecheck %s
// RUN: coarsen apply %s --factor 4 | filecheck %s --check-prefix PLAIN

kernel void copy(global const float *from, global float *to)
{
    int x = get_global_id(0);
    to[x] = from[x];
}

// CHECK: note: every buffer must be smaller than 16 GiB, or a 32-bit index of a merged access may wrap around
// CHECK: float4 [[WIDE:[a-z_0-9]+]] = vload4(0, &from[x]);
// CHECK-NEXT: vstore4([[WIDE]], 0, &to[x]);
//
// PLAIN-NOT: vload
// PLAIN: to[x_2] =
// PLAIN-NOT: vstore
