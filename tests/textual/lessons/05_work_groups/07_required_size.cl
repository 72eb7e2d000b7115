// The local size stays, and so does a demand for it.
//
// RUN: coarsen apply %s --factor 4 --level group | filecheck %s

kernel __attribute__((reqd_work_group_size(32, 1, 1))) void fixed(global int *out)
{
    out[get_global_id(0)] = 1;
}

// CHECK: reqd_work_group_size(32, 1, 1)
