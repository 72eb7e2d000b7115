// Operations of the whole work-group count work-items that are no longer there.
//
// RUN: not coarsen apply %s --factor 2 --cl-std CL2.0 2>&1 | filecheck %s

kernel void total(global int *out)
{
    out[get_global_id(0)] = work_group_reduce_add(out[get_global_id(0)]);
// CHECK: error: {{.*}}01_collective.cl:[[# @LINE - 1]]:29: work_group_reduce_add is an operation of the whole work-group [collective]
}
