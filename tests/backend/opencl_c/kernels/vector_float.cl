kernel void vector_float(global float4* out, global const float4* first, global const float4* second)
{
    int x = get_global_id(0);
    float4 a = first[x], b = second[x];
    out[x] = (a < b) ? a.wzyx * 2.0f : b.xyzw + a.x;
}
