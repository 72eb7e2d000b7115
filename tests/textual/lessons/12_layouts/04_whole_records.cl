// A copy of a whole record becomes one for each field; what was padding is not copied.
//
// RUN: coarsen apply %s --factor 2 --layout to=soa --shape to=100 --print-after layout 2>&1 | filecheck %s

typedef struct { float x, y; uchar tag; } Point;

kernel void copy(global Point *to, global const Point *from)
{
    size_t i = get_global_id(0);
    to[i] = from[i];
}

// CHECK-NOT: memcpy
// CHECK: load float
// CHECK: load float
// CHECK: load i8
// CHECK: store float {{.*}}, align 4
// CHECK: store float {{.*}}, align 4
// CHECK: store i8 {{.*}}, align 1
// CHECK-NOT: memcpy
