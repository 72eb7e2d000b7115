// With nothing in between that touches memory, one load does for both.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

kernel void twice(local int *tile, global int *to, float x)
{
    int first = tile[0];
    float root = sqrt(x);
    int second = tile[0];
    to[get_global_id(0)] = first * 10 + second + (int)root;
}

// CHECK: int first = *tile;
// CHECK-NOT: *tile
// CHECK: first * 10 + first + (int)root
