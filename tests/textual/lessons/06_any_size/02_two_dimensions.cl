// Each coarsened dimension has its own size; a work-item is asked about both at once.
//
// RUN: coarsen apply %s --factor 2 --dim 0 --factor 2 --dim 1 --any-size 2>&1 | filecheck %s

kernel void fill(global float *image, int width)
{
    image[get_global_id(1) * width + get_global_id(0)] = 1.0f;
}

// CHECK: note: pass for the added argument global_size_x:
// CHECK: note: pass for the added argument global_size_y:
// CHECK: kernel void fill(global float* image, int width, ulong global_size_x, ulong global_size_y)
// CHECK: bool [[Y:inside[_0-9]*]] = position{{.*}} < global_size_y;
// CHECK: bool [[X:inside[_0-9]*]] = {{.*}} < global_size_x;
// CHECK: if ([[Y]] && [[X]]) {
