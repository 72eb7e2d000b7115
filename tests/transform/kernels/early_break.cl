// Loops left in their middle: before anything is stored (the iteration can start again), and after.
kernel void early_break(global const int *data, global int *found, global int *marks, int count) {
    const int id = get_global_id(0);
    int position = -1;
    for (int i = 0; i < count; ++i) {
        if (data[(id + i * 5) % 96] % 11 == id % 5) {
            position = i;
            break;
        }
        marks[id] += i;
    }
    found[id] = position;
    int steps = 0;
    for (int i = 0; i < count; ++i) {
        marks[id + 96] = i;
        if (data[(id * 2 + i) % 96] % 9 == 4) break;
        ++steps;
    }
    found[id + 96] = steps;
}
