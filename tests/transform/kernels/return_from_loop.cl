// Returns out of nested loops; some work-items reach the end.
kernel void return_from_loop(global const int *data, global int *result, int rows) {
    const int id = get_global_id(0);
    result[id] = -1;
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j <= i; ++j) {
            if (data[(id + i * j) % 96] % 13 == 7) {
                result[id] = i * 100 + j;
                return;
            }
        }
    }
    result[id] = 12345;
}
