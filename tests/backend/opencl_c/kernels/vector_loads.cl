kernel void vector_loads(global float* out, global const float* first, local float* staged, global const uchar* bytes)
{
    int x = get_global_id(0);
    int l = get_local_id(0);
    vstore4(vload4(x & 7, first) * 2.0f, l, staged);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[x] = staged[(l * 4 + 5) & 31] + vload2(x, first + 1).y + convert_float4(vload4(x, bytes)).z;
}
