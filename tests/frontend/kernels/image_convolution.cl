// A 3 × 3 blur of an image, edges clamped by the sampler.
constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

kernel void image_convolution(read_only image2d_t source, write_only image2d_t target, constant float *weights) {
    const int2 centre = (int2)(get_global_id(0), get_global_id(1));
    if (centre.x >= get_image_width(source) || centre.y >= get_image_height(source)) {
        return;
    }
    float4 sum = (float4)(0.0f);
    for (int row = -1; row <= 1; ++row) {
        for (int column = -1; column <= 1; ++column) {
            const float4 pixel = read_imagef(source, nearest, centre + (int2)(column, row));
            sum += pixel * weights[(row + 1) * 3 + column + 1];
        }
    }
    write_imagef(target, centre, sum);
}
