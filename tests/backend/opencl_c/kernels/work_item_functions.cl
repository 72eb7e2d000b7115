kernel void work_item_functions(global uint* out)
{
    int x = get_global_id(0);
    out[x] = get_global_size(0) + get_local_id(0) * 3 + get_group_id(0) * 100 + get_num_groups(0) + get_work_dim() + get_global_offset(0) + get_local_size(x & 1) + get_global_id(x & 3);
}
