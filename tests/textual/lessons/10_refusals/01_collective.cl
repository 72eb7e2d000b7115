// Operations of the whole work-group count work-items that are no longer there.
//
// RUN: not coarsen apply %s --kernel total --factor 2 --cl-std CL2.0 2>&1 | filecheck %s --check-prefix TOTAL
// RUN: not coarsen apply %s --kernel agreed --factor 2 --cl-std CL2.0 2>&1 | filecheck %s --check-prefix AGREED
// RUN: not coarsen apply %s --kernel told --factor 2 --cl-std CL2.0 2>&1 | filecheck %s --check-prefix TOLD

kernel void total(global int *out)
{
    out[get_global_id(0)] = work_group_reduce_add(out[get_global_id(0)]);
// TOTAL: error: {{.*}}01_collective.cl:[[# @LINE - 1]]:29: work_group_reduce_add is an operation of the whole work-group [collective]
}

kernel void agreed(global int *out)
{
    out[get_global_id(0)] =
        work_group_all(out[get_global_id(0)]);
// AGREED: 01_collective.cl:[[# @LINE - 1]]:9: work_group_all is an operation of the whole work-group [collective]
}

kernel void told(global int *out)
{
    out[get_global_id(0)] = work_group_broadcast(out[1], 0);
// TOLD: 01_collective.cl:[[# @LINE - 1]]:29: work_group_broadcast is an operation of the whole work-group [collective]
}
