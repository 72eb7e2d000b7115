// Kernels that call each other, and helpers, one of which asks not to be inlined.
float shaped(float value, float slope);

__attribute__((noinline)) float shaped(float value, float slope) {
    return value > 0.0f ? value : value * slope;
}

kernel void shape(global float *values, float slope) {
    const size_t i = get_global_id(0);
    values[i] = shaped(values[i], slope);
}

kernel void shape_and_scale(global float *values, float slope, float factor) {
    shape(values, slope);
    values[get_global_id(0)] *= factor;
}
