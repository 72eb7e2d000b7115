// A structure passed by value is each work-item's own: written to under divergent control and at a divergent index.
typedef struct {
    int first;
    int second[3];
} Record;
kernel void struct_by_value(global const int *data, global int *result, Record own, Record shared_one) {
    const int id = get_global_id(0);
    own.first += data[id];
    if (data[id] & 1) {
        own.second[data[id] % 3] = id;
    }
    shared_one.second[1] = shared_one.first * 2;
    result[id] = own.first + own.second[0] * 3 + own.second[1] * 5 + own.second[2] * 7 + shared_one.second[id % 3];
}
