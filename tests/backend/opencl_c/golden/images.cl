constant sampler_t sampler = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

kernel void images(read_only image2d_t image, sampler_t passed, global float4* out)
{
    int x = get_global_id(0);
    int2 at = (int2)(x, 3);
    float4 a = read_imagef(image, sampler, at);
    float4 b = read_imagef(image, passed, (float2)(2.5f, x));
    float value = get_image_width(image);
    out[x] = b * 2.0f + a + value + convert_float4(read_imagef(image, sampler, at + 100));
}
