// What is written through one argument changes no load through another: b[n] is loaded once for all merged work-items
// and all stores. What is read back of c is read anew after each store to it.
//
// RUN: coarsen apply %s --factor 2 --distinct | filecheck %s
// RUN: coarsen apply %s --factor 2 | filecheck %s --check-prefix GENERAL

kernel void scale(global const int *b, global int *c, global int *d, int n)
{
    int x = get_global_id(0);
    c[x] = b[n] + x;
    d[x] = b[n] * c[n];
}

// CHECK: [[B:[a-z_0-9]+]] = b[n];
// CHECK-NOT: b[n]
// CHECK: c[x] =
// CHECK-NEXT: c[x_2] =
// CHECK: c[n]
// CHECK-NOT: b[n]
// CHECK: }
//
// GENERAL: b[n]
// GENERAL: b[n]
