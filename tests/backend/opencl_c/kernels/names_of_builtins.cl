kernel void names_of_builtins(global float* result, global const float* length, float step, int half_, global int* index)
{
    int x = get_global_id(0);
    float distance = length[x] * step, min = distance + half_;
    float4 value = (float4)(min);
    int kernel_ = index[x];
    result[x] = value.x + distance + kernel_;
}
