// Types and amounts come from the build options.
#ifndef ELEMENT
#error "ELEMENT is not set"
#endif
kernel void configured_types(global const ELEMENT *data, global ELEMENT *result, ELEMENT scale) {
    const size_t id = get_global_id(0);
    ELEMENT sum = 0;
    for (int i = 0; i < REPEAT; ++i) {
        sum += data[(id + i) % get_global_size(0)] * scale;
    }
    result[id] = sum;
}
