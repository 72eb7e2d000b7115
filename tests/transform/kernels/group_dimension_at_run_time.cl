// Queries whose dimension is an argument or counted, with a global offset; there is no third dimension.
kernel void group_dimension_at_run_time(global int *result, const int last, const uint asked) {
    int seen = 0;
    for (int dimension = 0; dimension < last; dimension++)
        seen = seen * 3 + (int)get_global_id(dimension) + 2 * (int)get_group_id(dimension)
            + 5 * (int)get_num_groups(dimension) + (int)get_global_size(dimension) + (int)get_local_id(dimension)
            + (int)get_local_size(dimension) + 7 * (int)get_global_offset(dimension);
    const int row = get_global_id(asked + 1) - get_global_offset(asked + 1);
    const int column = get_global_id(asked) - get_global_offset(asked);
    result[row * (int)get_global_size(asked) + column] = seen;
}
