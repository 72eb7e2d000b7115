// Private arrays: indexed by a divergent value, filled uniformly, reloaded at a uniform index.
kernel void private_array(global const int *data, global int *result, int count) {
    const int id = get_global_id(0);
    int table[8];
    int shared_table[4];
    for (int i = 0; i < 8; ++i) {
        table[i] = i * i + count;
    }
    for (int i = 0; i < 4; ++i) {
        shared_table[i] = i + count;
    }
    table[data[id] & 7] = id;
    int sum = shared_table[count & 3];
    if (data[id] & 8) {
        shared_table[1] += 100;
    }
    for (int i = 0; i < 8; ++i) {
        sum += table[i] * (i + 1) + shared_table[i & 3];
    }
    result[id] = sum + table[(data[id] >> 3) & 7];
}
