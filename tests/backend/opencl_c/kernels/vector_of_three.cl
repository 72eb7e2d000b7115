kernel void vector_of_three(global float3* out, global const float3* first, float3 offset, global float* packed)
{
    int x = get_global_id(0);
    float3 a = first[x].zyx;
    a.y += offset.x;
    vstore3(a * a, x, packed);
    out[x] = (float3)(dot(a, offset), length(a), cross(a, offset).z);
    out[x].y = a.z;
}
