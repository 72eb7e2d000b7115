// Static local memory of several shapes, reached through constant addresses, a choice of pointers, and atomics.
kernel void group_static_memory(global const int *data, global int *result) {
    local int tile[4], mirror[4], total;
    local struct { int first; short rest[6]; } record;
    const int item = get_local_id(0);
    if (item == 0) {
        total = 0;
        record.first = data[get_global_id(0)] % 100;
        record.rest[5] = get_group_id(0);
    }
    tile[item] = data[get_global_id(0)];
    mirror[3 - item] = item * 7;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&total, tile[3 - item] + record.rest[5]);
    local const int *chosen = item % 2 ? tile : mirror;
    local const int *either = record.first > 50 ? &mirror[1] : tile + 2;
    const int value = chosen[item] + *either + mirror[2] + tile[3];
    barrier(CLK_LOCAL_MEM_FENCE);
    result[get_global_id(0)] = value + total * 3 + record.first;
}
