// A choice between two values without effects is no branch for long: LLVM makes it a selection, which is replicated as
// any instruction.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

kernel void clamped(global float *data, float limit)
{
    size_t i = get_global_id(0);
    float value = data[i];
    data[i] = value > limit ? limit : value;
}

// CHECK-NOT: if
// CHECK: value > limit ? limit : value
// CHECK: value_2 > limit ? limit : value_2
// CHECK: data[global_id_x] =
// CHECK-NEXT: data[global_id_x_2] =
