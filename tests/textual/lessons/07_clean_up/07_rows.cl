// A replica counts on from the one before: the index of the next row is the last one's plus the width, an addition in
// place of a multiplication.
//
// RUN: coarsen apply %s --factor 2 --dim 1 | filecheck %s

kernel void transpose_rows(global const float *from, global float *to, uint width)
{
    uint x = get_global_id(0), y = get_local_id(1);
    to[y * width + x] = from[y * width + x + 7];
}

// CHECK: uint [[TO:[a-z_0-9]+]] = y * width + x;
// CHECK: uint [[FROM:[a-z_0-9]+]] = [[TO]] + 7;
// CHECK-NOT: *
// CHECK: = from{{\[}}[[FROM]] + width];
// CHECK: to{{\[}}[[TO]]] = from{{\[}}[[FROM]]];
// CHECK: to{{\[}}[[TO]] + width] =
