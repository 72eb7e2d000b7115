// A work-group size that the kernel demands and that stays as it is.
kernel __attribute__((reqd_work_group_size(4, 2, 1))) void group_required_size(
    global const int *data, global int *result) {
    local int tile[2][4];
    const int own = get_global_id(1) * get_global_size(0) + get_global_id(0);
    tile[get_local_id(1)][get_local_id(0)] = data[own];
    barrier(CLK_LOCAL_MEM_FENCE);
    result[own] = tile[1 - get_local_id(1)][3 - get_local_id(0)] + get_group_id(0) * 5 + get_group_id(1);
}
