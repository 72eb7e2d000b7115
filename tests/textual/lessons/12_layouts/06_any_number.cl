// Where an array begins depends on how many elements there are before it. If no shape says that, the kernel takes it
// as an argument, after its own: one compiled kernel serves all sizes, and the comment says what to pass. Extents of a
// shape that is given are compiled in. An index is divided by extents that are arguments; as a number of 32 bits, where
// the launch has no more elements than that.
//
// RUN: coarsen apply %s --factor 1 --layout points=soa | filecheck %s
// RUN: coarsen apply %s --factor 1 --layout points=soa --shape points=100 | filecheck %s --check-prefix SHAPE
// RUN: coarsen apply %s --factor 1 --order points=1,0 | filecheck %s --check-prefix ORDER

typedef struct { float x, y; } Point;

kernel void clear(global Point *points)
{
    points[get_global_id(0)].y = 0;
}

// CHECK: // points_count: the number of elements of points, a ulong
// CHECK-NEXT: kernel void clear(global char* points, ulong points_count)
// CHECK: points_count * 4

// SHAPE: kernel void clear(global char* points)
// SHAPE: 400

// ORDER: // points_extent_0: the extent of points along its dimension 0, the slowest is 0, a ulong
// ORDER-NEXT: // points_extent_1: the extent of points along its dimension 1, the slowest is 0, a ulong
// ORDER: if (position <= 2147483648UL) {
// ORDER: uint [[WIDTH:[a-z_0-9]+]] = points_extent_1;
// ORDER: / [[WIDTH]];
// ORDER: } else {
// ORDER: / points_extent_1;
