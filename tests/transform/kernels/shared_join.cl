// Two divergent branches on the two sides of a uniform one: both regions end at the same join.
kernel void shared_join(global const int *data, global int *result, int side) {
    const int id = get_global_id(0);
    int value = data[id], kept = 7;
    for (int round = 0; round < 3; ++round) {
        if ((side + round) & 1) {
            kept += round;
            if (value % 3 == 1) {
                value = value * 5 + result[id];
                result[id] = value;
            }
        } else {
            kept *= 2;
            if (value % 5 > 2) {
                value -= 11;
                result[id] += value;
            }
        }
    }
    result[id] += value * kept;
}
