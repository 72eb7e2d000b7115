// Sub-groups would get smaller, or be made of other work-items.
//
// RUN: not coarsen apply %s --kernel lanes --factor 2 2>&1 | filecheck %s --check-prefix LANES
// RUN: not coarsen apply %s --kernel sums --factor 2 2>&1 | filecheck %s --check-prefix SUMS

kernel void lanes(global uint *out)
{
    out[get_global_id(0)] = get_sub_group_local_id();
// LANES: 02_sub_group.cl:[[# @LINE - 1]]:29: get_sub_group_local_id is a sub-group operation [sub-group]
}

kernel void sums(global int *out)
{
    out[get_global_id(0)] = sub_group_reduce_add(out[1]);
// SUMS: 02_sub_group.cl:[[# @LINE - 1]]:29: sub_group_reduce_add is a sub-group operation [sub-group]
}
