// Values stored as halves, computed with as floats.
kernel void half_storage(global const half *stored, global half *scaled, global float *sums, float scale) {
    const size_t i = get_global_id(0);
    const float4 values = vload_half4(i, stored);
    vstore_half4_rte(values * scale, i, scaled);
    sums[i] = values.x + values.y + values.z + values.w + vload_half(4 * i, stored);
}
