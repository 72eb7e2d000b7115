// A numbered name may be taken by the kernel: then another number is used.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

kernel void taken(global float *data, global float *value_1, float value_2)
{
    float value = data[get_global_id(0)] + value_2;
    value_1[get_global_id(0)] = value * value;
}

// CHECK: kernel void taken(global float* data, global float* value_1, float value_2)
// CHECK: float value = data[global_id_x] + value_2;
// CHECK: float value_3 = data[global_id_x_2] + value_2;
// CHECK: value_1[global_id_x_2] = value_3 * value_3;
