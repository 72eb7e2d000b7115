// Guards in guards with stores before and after the inner ones, and results of all of them behind.
kernel void guards_with_work(global const int *data, global int *result, int size, int limit) {
    const int id = get_global_id(0);
    int value = -1;
    float4 four = (float4)(1.0f, 2.0f, 3.0f, (float)id);
    bool seen = false;
    if (id < size) {
        value = data[id] + data[0];
        result[id] = value;
        if (id + 7 < limit) {
            for (int i = 0; i < 4; ++i) value += data[(id + i) % 96] * (i + data[1] % 3);
            four *= 2.0f;
            seen = id > 20;
            if (id > 11) {
                for (int i = 0; i < 3; ++i) value ^= data[i] + id;
                result[id] += value;
            } else {
                value -= 1000;
            }
        } else if (id > limit + 2) {
            for (int i = 0; i < 2; ++i) four.x += (float)data[i];
            value = 5;
        }
        value += result[id];
    }
    result[id + 96] = value + convert_int(four.x + four.w) + (seen ? 100000 : 0);
}
