// A trip count that depends on the data; the counter and the sum are used after the loop.
kernel void escaping_loop(global const int *data, global int *sums, global int *counts, int limit) {
    const int id = get_global_id(0);
    int sum = 0;
    int count = 0;
    while (sum < data[id] && count < limit) {
        sum += count * 3 + 1;
        count++;
    }
    sums[id] = sum;
    counts[id] = count;
    do {
        sum -= 5;
        ++count;
    } while (sum > 0);
    sums[id] += count * 1000;
}
