// The global size is the original one, too: a kernel that strides through its data by it still takes the same steps.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

kernel void grid_stride(global float *data, ulong count)
{
    for (size_t i = get_global_id(0); i < count; i += get_global_size(0))
        data[i] += 1.0f;
}

// CHECK: ulong global_size_x = get_global_size(0) * 2;
// CHECK: i += global_size_x;
// CHECK-NEXT: i_2 += global_size_x;
