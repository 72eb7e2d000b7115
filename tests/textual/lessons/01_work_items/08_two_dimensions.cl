// Each dimension is coarsened by itself; two of them merge a tile of work-items.
//
// Along dimension 1 the four replicas come from the two of dimension 0. What depends on x alone is shared by the
// replicas along y, and what depends on y alone by those along x: here the two factors are loaded twice each, not four
// times.
//
// RUN: coarsen apply %s --factor 2 --dim 0 --factor 2 --dim 1 | filecheck %s

kernel void outer_product(global const float *a, global const float *b, global float *product, int width)
{
    int x = get_global_id(0), y = get_global_id(1);
    product[y * width + x] = a[x] * b[y];
}

// CHECK: int y = global_id_y;
// CHECK-NEXT: int y_2 = (uint)y + 1;
// CHECK: int x = global_id_x;
// CHECK-NEXT: int x_2 = (uint)x + 1;
//
// Two loads of each factor, four products.
// CHECK-DAG: float [[A:[a-z_0-9]+]] = a[x];
// CHECK-DAG: float [[A2:[a-z_0-9]+]] = a[x_2];
// CHECK-DAG: float [[B:[a-z_0-9]+]] = b[y];
// CHECK-DAG: float [[B2:[a-z_0-9]+]] = b[y_2];
// CHECK-NOT: a[
// CHECK-NOT: b[
// CHECK-DAG: = [[A]] * [[B]];
// CHECK-DAG: = [[A]] * [[B2]];
// CHECK-DAG: = [[A2]] * [[B]];
// CHECK-DAG: = [[A2]] * [[B2]];
