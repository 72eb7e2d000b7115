// A loop that stores and then asks whether to go on, with atomics in it that each replica must carry out once.
kernel void stores_before_test(global const int *data, global int *result, global int *total) {
    const int id = get_global_id(0);
    int left = data[id] % 6;
    int turns = 0;
    do {
        result[id] = left * 10 + turns;
        atomic_add(&total[left & 3], turns + 1);
        ++turns;
        --left;
    } while (left > 0);
    result[id + 96] = turns;
}
