// A local argument is an offset into the one block of shared memory that a launch allocates.
//
// RUN: coarsen apply %s --factor 1 --emit ptx | filecheck %s

kernel void staged(global float *a, local float *tile, local int *marks)
{
    tile[get_local_id(0)] = a[get_global_id(0)];
    marks[get_local_id(0)] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    a[get_global_id(0)] = tile[get_local_id(0) ^ 1] + marks[0];
}

// CHECK: // In place of tile, marks: bytes from the start of dynamic_shared_memory, 0 for the first.
// CHECK: .extern .shared .align 128 .b8 dynamic_shared_memory[];
// CHECK: .param .u64 .ptr .global
// CHECK-NEXT: .param .u64 staged_param_1,
// CHECK-NEXT: .param .u64 staged_param_2
