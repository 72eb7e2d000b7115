// Along dimension 1 only what depends on get_global_id(1) is repeated.
//
// RUN: coarsen apply %s --factor 2 --dim 1 | filecheck %s

kernel void rows(global const float *row, global float *image, int width)
{
    int x = get_global_id(0), y = get_global_id(1);
    image[y * width + x] = row[x] * 2.0f;
}

// CHECK: global_id_y = (get_global_id(1) - global_offset_y) * 2 + global_offset_y;
// CHECK: int x = get_global_id(0);
// CHECK: float [[VALUE:[a-z_0-9]+]] = row[x] * 2.0f;
// CHECK-NOT: row[
// CHECK: image[y * width + x] = [[VALUE]];
// CHECK: image[{{.*}}y_2 * width + x{{.*}}] = [[VALUE]];
