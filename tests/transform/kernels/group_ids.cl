// What a work-item knows of itself and of the launch, in three dimensions.
kernel void group_ids(global int *result) {
    int own = 0, seen = 0;
    for (int dimension = 2; dimension >= 0; dimension--)
        own = own * (int)get_global_size(dimension) + (int)get_global_id(dimension);
    seen = get_global_id(0) + 3 * get_global_id(1) + 7 * get_global_id(2);
    seen = seen * 2 + get_local_id(0) + 5 * get_local_id(1) + 11 * get_local_id(2);
    seen = seen * 2 + get_group_id(0) + 13 * get_group_id(1) + 17 * get_group_id(2);
    seen += get_num_groups(0) + 100 * get_num_groups(1) + 1000 * get_num_groups(2);
    seen += 10 * get_local_size(0) + get_local_size(1) + get_local_size(2);
    seen += 10000 * get_global_size(0) + 70000 * get_global_size(1) + get_global_size(2);
    const uchar narrow = get_group_id(0), narrow_global = get_global_id(1);
    result[own] = seen + narrow * 5 + narrow_global;
}
