// All three dimensions, with a neighbour through local memory along the last one.
kernel void three_dimensions(global const int *data, global int *result, local int *tile) {
    const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    const int width = get_global_size(0), height = get_global_size(1);
    const int index = (z * height + y) * width + x;
    const int items_x = get_local_size(0), items_y = get_local_size(1), items_z = get_local_size(2);
    const int own = (get_local_id(2) * items_y + get_local_id(1)) * items_x + get_local_id(0);
    const int next = (((get_local_id(2) + 1) % items_z) * items_y + get_local_id(1)) * items_x + get_local_id(0);
    tile[own] = data[index];
    barrier(CLK_LOCAL_MEM_FENCE);
    result[index] = tile[next] * 3 + x + 10 * y + 100 * z;
}
