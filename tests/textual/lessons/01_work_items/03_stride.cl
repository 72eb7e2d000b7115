// The stride says how far apart the merged work-items stand.
//
// With stride 1 they are neighbours: 2 * i and 2 * i + 1. With stride 16 they stand 16 apart, so that neighbouring
// work-items of the coarsened kernel still touch neighbouring addresses, which a GPU serves together.
// Work-item i becomes the items i / 16 * 32 + i % 16 and that plus 16.
//
// RUN: coarsen apply %s --factor 2 --stride 16 | filecheck %s

kernel void negate_all(global float *data)
{
    size_t i = get_global_id(0);
    data[i] = -data[i];
}

// i + i / 16 * 16 is i / 16 * 32 + i % 16, with one operation less.
// CHECK: ulong [[I:[a-z_0-9]+]] = get_global_id(0) - global_offset_x;
// CHECK: ulong global_id_x = [[I]] + [[I]] / 16 * 16 + global_offset_x;
// CHECK: ulong global_id_x_2 = global_id_x + 16;
// CHECK: data[global_id_x] = -data[global_id_x];
// CHECK: data[global_id_x_2] = -
