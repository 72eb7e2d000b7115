// Linear ids (OpenCL C 2.0) in three dimensions.
kernel void linear_ids(global int *result) {
    const size_t index = get_global_linear_id();
    result[index] = (int)(get_local_linear_id() * 100 + get_enqueued_local_size(0) + get_local_size(1));
}
