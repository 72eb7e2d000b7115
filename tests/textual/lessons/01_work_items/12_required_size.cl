// A work-group size that the kernel demands is that of its launch, so it is divided by the factor.
//
// RUN: coarsen apply %s --factor 4 | filecheck %s

kernel __attribute__((reqd_work_group_size(32, 2, 1))) void fixed(global int *out)
{
    out[get_global_id(1) * 32 + get_global_id(0)] = 1;
}

// CHECK: reqd_work_group_size(8, 2, 1)
// CHECK-NEXT: void fixed(global int* out)
