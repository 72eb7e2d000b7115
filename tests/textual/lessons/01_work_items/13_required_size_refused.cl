// Where the factor does not divide the size that the kernel demands there is no such launch.
//
// RUN: not coarsen apply %s --factor 3 2>&1 | filecheck %s

kernel __attribute__((reqd_work_group_size(32, 1, 1))) void fixed(global int *out)
{
    out[get_global_id(0)] = 1;
}

// CHECK: error: the kernel demands a local size of 32 in dimension 0, which factor 3 does not divide;
// CHECK-SAME: --level group merges whole work-groups, of any size
