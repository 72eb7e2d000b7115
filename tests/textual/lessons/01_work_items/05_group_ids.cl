// Work-items are merged inside of their work-group: group ids and the number of groups stay as they are.
//
// RUN: coarsen apply %s --factor 4 | filecheck %s

kernel void group_ids(global int *out)
{
    out[get_global_id(0)] = (int)(get_group_id(0) * 1000 + get_num_groups(0));
}

// CHECK: int [[VALUE:[a-z_0-9]+]] = get_group_id(0) * 1000 + get_num_groups(0);
// CHECK: out[global_id_x] = [[VALUE]];
// CHECK: out[global_id_x_4] = [[VALUE]];
