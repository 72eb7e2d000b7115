// Images with a sampler from the source and one from the host.
constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
kernel void image_filter(read_only image2d_t input, write_only image2d_t output, sampler_t border) {
    const int2 here = (int2)(get_global_id(0), get_global_id(1));
    float4 sum = read_imagef(input, nearest, here) * 2.0f;
    sum += read_imagef(input, border, here + (int2)(1, 0));
    if (here.x + 1 < get_image_width(input)) {
        sum += read_imagef(input, nearest, here + (int2)(0, 1));
    }
    write_imagef(output, here, sum * 0.25f);
}
