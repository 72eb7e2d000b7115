// Operations on atomic types with an order and a scope are OpenCL 2.0: the option to build with is said.
//
// RUN: coarsen apply %s --factor 2 --cl-std CL2.0 2>&1 | filecheck %s

kernel void relaxed(global atomic_int *counter, global int *out)
{
    out[get_global_id(0)] =
        atomic_fetch_add_explicit(counter, 1, memory_order_relaxed, memory_scope_device);
}

// CHECK: note: build it with -cl-std=CL2.0
// CHECK: kernel void relaxed(global atomic_int* counter, global int* out)
// CHECK-COUNT-2: atomic_fetch_add_explicit(counter, 1, memory_order_relaxed, memory_scope_device);
