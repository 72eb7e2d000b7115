// Vectors are values like others: each replica has its own, and swizzles stay.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

kernel void rotate_lanes(global float4 *data, float4 scale)
{
    size_t i = get_global_id(0);
    float4 value = data[i];
    data[i] = value.wxyz * scale;
}

// CHECK: float4 value = data[global_id_x];
// CHECK-NEXT: float4 value_2 = data[global_id_x_2];
// CHECK-NEXT: data[global_id_x] = value.wxyz * scale;
// CHECK-NEXT: data[global_id_x_2] = value_2.wxyz * scale;
