kernel void vector_lanes(
    global float4* out,
    global const float4* first,
    global const float2* second)
{
    int x = get_global_id(0);
    float4 a = first[x];
    float2 b = second[x];
    out[2 * x] = (float4)(a.x, a.z + b.x, b.x, a.x) + (float4)(b.xyy, 1.0f);
    out[2 * x + 1] = b.xyxy;
}
