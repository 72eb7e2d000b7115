// Short-circuit conditions that mix uniform and divergent parts: a region that is entered from the side.
kernel void irregular_conditions(global const int *data, global int *result, int mode, int limit) {
    const int id = get_global_id(0);
    int value = data[id];
    if (mode > 2 || (value & 1 && limit > 3) || result[id] > 100000) {
        result[id] += value * 2;
        value += mode;
    } else {
        result[id] -= value;
    }
    if (mode == 1) goto middle;
    if (value <= limit) goto end;
    value -= limit;
middle:
    value ^= 0x55;
    result[id] += value;
end:
    switch (value & 7) {
        case 0: value += 3;
        case 1: value *= 2; break;
        case 5: result[id] ^= 0xff;
        default: value -= id;
    }
    result[id] += value;
}
