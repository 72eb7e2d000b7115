kernel void vector_masks(global int4* out, global const int4* first, global const float4* second, global long2* wide)
{
    int x = get_global_id(0);
    int4 a = first[x];
    float4 b = second[x];
    int4 m = (a > 0) & (b < 1.0f) | ~(a == 7);
    out[x] = m + select(a, -a, b >= 0.5f) + (any(m) ? 3 : 4) + (all(m.xy) ? 8 : 16);
    wide[x] = (wide[x] > 5) ? wide[x] : -wide[x];
}
