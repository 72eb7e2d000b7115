// Coarsening merges work-items: one does the work of several.
//
// With factor 2 a launch has half as many work-items. Work-item i of the coarsened kernel does what the work-items
// 2 * i and 2 * i + 1 of the original did, so every instruction whose operands differ between the two is repeated.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

kernel void add(global const float *a, global const float *b, global float *sum)
{
    size_t i = get_global_id(0);
    sum[i] = a[i] + b[i];
}

// The arguments are the source's.
// CHECK: kernel void add(global const float* a, global const float* b, global float* sum)
//
// The first replica's id, counted from the launch's offset, and the second one's.
// CHECK: ulong global_offset_x = get_global_offset(0);
// CHECK: global_id_x = (get_global_id(0) - global_offset_x) * 2 + global_offset_x;
// CHECK: global_id_x_2 = {{.*}}global_id_x + 1;
//
// All loads come before the stores: the device may wait for them together.
// CHECK-DAG: float [[A:[a-z_0-9]+]] = a[global_id_x_2];
// CHECK-DAG: float [[B:[a-z_0-9]+]] = b[global_id_x_2];
// CHECK: sum[global_id_x] = a[global_id_x] + b[global_id_x];
// CHECK-NEXT: sum[global_id_x_2] = [[A]] + [[B]];
