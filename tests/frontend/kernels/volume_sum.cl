// A 3-D box filter with a demanded work-group size; dimensions asked for in a loop.
kernel __attribute__((reqd_work_group_size(4, 4, 4)))
void volume_sum(global const int *volume, global int *sums) {
    int position[3], size[3];
    for (int d = 0; d < 3; ++d) {
        position[d] = get_global_id(d) - get_global_offset(d);
        size[d] = get_global_size(d);
    }
    int sum = 0;
    for (int z = max(position[2] - 1, 0); z <= min(position[2] + 1, size[2] - 1); ++z) {
        for (int y = max(position[1] - 1, 0); y <= min(position[1] + 1, size[1] - 1); ++y) {
            for (int x = max(position[0] - 1, 0); x <= min(position[0] + 1, size[0] - 1); ++x) {
                sum += volume[(z * size[1] + y) * size[0] + x];
            }
        }
    }
    sums[(position[2] * size[1] + position[1]) * size[0] + position[0]] = sum;
}
