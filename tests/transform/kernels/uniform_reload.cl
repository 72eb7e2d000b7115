// The address is uniform at every access, the content isn't: stored under divergent control, through a call,
// and by a copy of a structure.
typedef struct {
    int first;
    int second[3];
} Record;
kernel void uniform_reload(global const float *data, global float *result, global const Record *records, int which) {
    const int id = get_global_id(0);
    volatile int slot[2];
    slot[0] = 7;
    slot[1] = which;
    if (data[id] > 0.5f) {
        slot[0] = which;
    }
    float whole;
    const float part = fract(data[id] * 9.0f, &whole);
    Record record = records[id % 5];
    Record same = records[which & 3];
    record.second[which & 1] += same.second[1];
    int exponent;
    const float mantissa = frexp(data[id] + 1.0f, &exponent);
    result[id] = slot[0] + slot[1] + part + whole + record.second[0] + record.first + same.second[which % 3]
        + mantissa * exponent;
}
