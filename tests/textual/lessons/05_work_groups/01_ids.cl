// --level group merges whole work-groups: the local size stays, group g does the work of the groups 2 * g and 2 * g + 1.
//
// RUN: coarsen apply %s --factor 2 --level group | filecheck %s

kernel void group_ids(global int *out)
{
    out[get_global_id(0)] = (int)(get_group_id(0) * 1000 + get_local_id(0));
}

// CHECK-DAG: ulong group_id_x = get_group_id(0) * 2;
// CHECK-DAG: ulong local_size_x = get_local_size(0);
//
// A global id is that of its group times the local size, plus the local id; the next group's is a local size further.
// CHECK: global_id_x = group_id_x * local_size_x + get_local_id(0) + global_offset_x;
// CHECK-NEXT: global_id_x_2 = global_id_x + local_size_x;
// CHECK: out[global_id_x] = [[VALUE:[a-z_0-9]+]];
// CHECK-NEXT: out[global_id_x_2] = (uint)[[VALUE]] + 1000;
