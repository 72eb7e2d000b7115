// From planes of float to packed 8-bit pixels and back: vload, vstore, saturating conversions, as_ casts.
kernel void pack_pixels(global const float *planar, global uchar *packed, global float *unpacked, float gain) {
    const size_t i = get_global_id(0);
    const float3 colour = vload3(i, planar) * gain;
    const uchar4 pixel = convert_uchar4_sat_rte((float4)(colour, 255.0f));
    vstore4(pixel, i, packed);
    const float4 back = convert_float4(pixel.wzyx);
    unpacked[i] = dot(back, (float4)(0.25f)) + as_float(as_uint(colour.x) & 0xffff0000u);
}
