// A file may hold several kernels: --kernel names one. The others are left out, functions are inlined. Without, each
// is written by itself, in the order of the file.
//
// RUN: coarsen apply %s --kernel second --factor 2 | filecheck %s
// RUN: coarsen apply %s --factor 2 | filecheck %s --check-prefix ALL

float twice(float value) { return 2.0f * value; }

kernel void first(global float *data) { data[get_global_id(0)] = 1.0f; }

kernel void second(global float *data)
{
    size_t i = get_global_id(0);
    data[i] = twice(data[i]);
}

// CHECK-NOT: first
// CHECK-NOT: twice
// CHECK: kernel void second(global float* data)
// CHECK: data[global_id_x] = 2.0f *
//
// ALL: kernel void first(global float* data)
// ALL: kernel void second(global float* data)
