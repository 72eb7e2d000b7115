kernel void vector_masks(
    global int4* out,
    global const int4* first,
    global const float4* second,
    global long2* wide)
{
    int x = get_global_id(0);
    int4 a = first[x];
    float4 b = second[x];
    int4 m = ((a > 0) & (b < 1.0f)) | ~(a == 7);
    int chosen = any(m) != 0 ? 3 : 4;
    int chosen_2 = all(m.xy) != 0 ? 8 : 16;
    out[x] = m + select(a, -a, b >= 0.5f) + chosen + chosen_2;
    long2 value = wide[x] > 5L;
    wide[x] = select(-wide[x], wide[x], value);
}
