// A kernel that enqueues others would enqueue them as often as there are replicas, or not: it is not looked into.
//
// RUN: not coarsen apply %s --factor 2 --cl-std CL2.0 2>&1 | filecheck %s

kernel void starter(queue_t queue, global int *out)
{
    enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), ^{ out[0] = 1; });
// CHECK: [[# @LINE - 1]]:{{[0-9]+}}: {{.*}} is a device-side enqueue [device-enqueue]
}
