// A table in local memory that all groups fill alike, which they may share, beside a tile of each group's own.
kernel void group_shared_table(
    global const float *data, global const float *weights, global float *result, local float *tile) {
    local float table[16];
    const int width = get_global_size(0);
    const int items = get_local_size(0) * get_local_size(1);
    const int item = get_local_id(1) * get_local_size(0) + get_local_id(0);
    const int own = get_global_id(1) * width + get_global_id(0);
    for (int entry = item; entry < 16; entry += items)
        table[entry] = weights[entry] * 2.0f;
    tile[item] = data[own];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f;
    for (int step = 0; step < items; step++)
        sum += tile[(item + step) % items] * table[(step * 5 + item) % 16];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0)
        table[3] = weights[5];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_group_id(0) % 2 == 1)
        sum += table[3] + table[4];
    result[own] = sum;
}
