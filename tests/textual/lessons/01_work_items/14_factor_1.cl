// Factor 1 merges nothing. The kernel is only lowered to LLVM IR and written as OpenCL C again, which shows what the
// writer alone does to it.
//
// RUN: coarsen apply %s --factor 1 | filecheck %s

kernel void scale(global float *values, float factor, uint count)
{
    uint item = get_global_id(0);
    if (item < count)
        values[item] *= factor;
}

// CHECK: kernel void scale(global float* values, float factor, uint count)
// CHECK-NEXT: {
// CHECK-NEXT: uint item = get_global_id(0);
// CHECK-NEXT: if (item < count) {
// CHECK-NEXT: values[item] *= factor;
// CHECK-NEXT: }
// CHECK-NEXT: }
