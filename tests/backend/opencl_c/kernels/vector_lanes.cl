kernel void vector_lanes(global float4* out, global const float4* first, global const float2* second)
{
    int x = get_global_id(0);
    float4 a = first[x];
    float2 b = second[x];
    a.yw = b;
    a.z += b.x;
    float8 c = (float8)(a, b, a.x, 1.0f);
    out[2 * x] = c.s0246 + c.odd;
    out[2 * x + 1] = (float4)(b, c.hi.xy);
}
