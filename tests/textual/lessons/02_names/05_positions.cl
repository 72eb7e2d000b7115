// What the compiler says names the line and the column of the source.
//
// RUN: not coarsen apply %s --factor 2 --cl-std CL2.0 2>&1 | filecheck %s

kernel void total(global int *values)
{
    int item = get_local_id(0);
    int sum =
        work_group_reduce_add(values[item]);
// CHECK: 05_positions.cl:[[# @LINE - 1]]:9: work_group_reduce_add is an operation of the whole work-group [collective]
    values[item] = sum;
}
