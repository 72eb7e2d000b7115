// A loop that all leave together by its count, or each for itself by its data; swapped values go round.
kernel void loop_with_two_exits(global const int *data, global int *result, int count) {
    const int id = get_global_id(0);
    int a = data[id], b = id, round = 0, c = count;
    for (round = 0; round < count; ++round) {
        int swap = a;
        a = b;
        b = swap + 1;
        c = c * 3 + round;
        if ((b ^ a) % 17 == 4) {
            break;
        }
    }
    result[id] = a * 7 + b * 3 + round + c;
    for (int i = 0; i < count; ++i) {
        int k = 0;
        while (k < (data[id] & 3) + i) {
            k += 2;
            if (k + i == count) {
                i++;
            }
        }
        result[id] += k * i;
    }
}
