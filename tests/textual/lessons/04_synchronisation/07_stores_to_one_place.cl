// A store of the same value to the same place need not be repeated; it is uniform like an addition.
//
// RUN: coarsen apply %s --factor 4 | filecheck %s

kernel void flag(global int *done, int value)
{
    done[0] = value;
}

// CHECK: {
// CHECK-NEXT: *done = value;
// CHECK-NEXT: }
