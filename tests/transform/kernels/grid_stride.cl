// A loop from the global id by the global size, and one from the local id by the local size inside of it.
kernel void grid_stride(global const int *data, global int *result, int count, int width) {
    const int size = get_global_size(0);
    const int items = get_local_size(0);
    for (int i = get_global_id(0); i < count; i += size) {
        int sum = data[i];
        for (int j = get_local_id(0); j < width; j += items) sum += data[j] * (j + 1);
        result[i] = sum;
    }
}
