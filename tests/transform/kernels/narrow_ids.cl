// Ids kept in types that are too narrow for them wrap around.
kernel void narrow_ids(global int *result) {
    const uchar item = get_local_id(0);
    const char signed_id = get_global_id(0);
    const ushort id = get_global_id(0);
    const bool odd = get_local_id(0) & 1;
    result[get_global_id(0)] = item + 1000 * signed_id + id * 7 + odd;
}
