// With --place an array that is only read becomes one in constant memory. What the kernel writes must be other memory,
// which the launch has to keep to; it is said.
//
// RUN: coarsen apply %s --factor 2 --place weights=constant 2>&1 | filecheck %s
// RUN: coarsen apply %s --factor 2 --place weights=constant --print-after layout 2>&1 | filecheck %s --check-prefix IR

kernel void smooth(global float *to, global const float *from, global const float *weights)
{
    int x = get_global_id(0);
    float sum = 0;
    for (int i = 0; i < 3; ++i)
        sum += from[x + i] * weights[i];
    to[x] = sum + vload2(1, weights).x;
}

// CHECK: note: pass for weights a buffer of at most CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE bytes, for constant memory, not the memory of to
// CHECK: kernel void smooth(global float* to, global const float* from, constant float* weights)
// CHECK: = weights[i];
// CHECK: vload2(1, weights);
//
// IR: ptr addrspace(2) {{.*}}%weights
// IR: load float, ptr addrspace(2)
// IR: call {{.*}} @_Z6vload2mPU3AS2Kf(i64 {{.*}}1, ptr addrspace(2) {{.*}}%weights)
