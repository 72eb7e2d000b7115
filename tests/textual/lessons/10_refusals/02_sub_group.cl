// Sub-groups would get smaller, or be made of other work-items.
//
// RUN: not coarsen apply %s --factor 2 2>&1 | filecheck %s

uint get_sub_group_local_id(void);

kernel void lanes(global uint *out)
{
    out[get_global_id(0)] = get_sub_group_local_id();
// CHECK: [[# @LINE - 1]]:29: get_sub_group_local_id is a sub-group operation [sub-group]
}
