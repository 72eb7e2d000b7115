// Rows of different lengths below a guard: the replicas leave the inner loop at different times, then go together.
kernel void uneven_rows(global const int *data, global int *result, int rows, int scale) {
    const int id = get_global_id(0);
    if (id < rows) {
        const int length = data[id] % 7;
        int sum = scale;
        long product = 1;
        for (int i = 0; i < length; ++i) {
            sum += data[(id * 3 + i) % 96] * data[i];
            product = product * (sum | 1) + i;
        }
        result[id] = sum + (int)(product >> 3);
    }
}
