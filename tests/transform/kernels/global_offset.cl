// Ids under a non-zero global offset.
kernel void global_offset(global int *result, int width) {
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    const int column = x - (int)get_global_offset(0);
    const int row = y - (int)get_global_offset(1);
    result[row * width + column] = x * 1000 + y + 7 * (int)get_local_id(0) + 13 * (int)get_group_id(1);
}
