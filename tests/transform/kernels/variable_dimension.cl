// Work-item functions with a dimension that is known only at run time, or differs between work-items.
kernel void variable_dimension(global int *result, int dimensions, uint chosen) {
    const size_t row = get_global_id(1) * get_global_size(0) + get_global_id(0);
    int sum = 0;
    for (int dimension = 0; dimension < dimensions; ++dimension) {
        sum = sum * 31 + (int)get_global_id(dimension) + 5 * (int)get_local_size(dimension)
            + 7 * (int)get_local_id(dimension) + 3 * (int)get_group_id(dimension) + (int)get_num_groups(dimension)
            + 11 * (int)get_global_size(dimension);
    }
    const uint own = get_local_id(0) & 1;
    sum += 1000 * (int)get_global_id(own) + (int)get_local_size(own) + (int)get_global_id(chosen);
    result[row] = sum;
}
