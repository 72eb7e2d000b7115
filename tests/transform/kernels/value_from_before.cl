// What is known before a guard is what all but some of its ways give behind it.
kernel void value_from_before(global const int *data, global int *result, int size, int mode) {
    const int id = get_global_id(0);
    int before = data[id * 2 % 96];
    if (mode == 1) {
        before += 7;
    } else if (id < size) {
        for (int i = 0; i < 3; ++i) result[id + 96] += data[i] * id;
        if (data[id] > 500) {
            before = data[id] - id;
            for (int i = 0; i < 3; ++i) before += data[i];
        }
    }
    result[id] = before;
}
