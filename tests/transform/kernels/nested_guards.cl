// Guards in guards, all with one join and nothing done in between: they share one slow path.
kernel void nested_guards(global const int *data, global int *result, int size, int limit) {
    const int id = get_global_id(0);
    if (id < size) {
        const int doubled = data[id] * 2 + limit;
        if (id >= 3) {
            const int other = data[id - 3] ^ doubled;
            if (id * 2 < limit) {
                int sum = 0;
                for (int i = 0; i < 5; ++i) sum += data[i] * other + i;
                result[id] = sum;
            }
        }
    }
}
