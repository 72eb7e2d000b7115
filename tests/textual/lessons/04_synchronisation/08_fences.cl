// A fence orders the accesses of each replica, and stands once for all of them.
//
// RUN: coarsen apply %s --factor 2 | filecheck %s

kernel void publish(global int *data, global int *flags)
{
    size_t i = get_global_id(0);
    data[i] = 1;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    flags[i] = 2;
}

// CHECK: data[global_id_x] = 1;
// CHECK-NEXT: data[global_id_x_2] = 1;
// CHECK-NEXT: mem_fence(CLK_GLOBAL_MEM_FENCE);
// CHECK-NEXT: flags[global_id_x] = 2;
// CHECK-NEXT: flags[global_id_x_2] = 2;
