kernel void group_copy(global float* out, global const float* in, local float* staged, local float4* wide)
{
    int x = get_global_id(0);
    event_t e = async_work_group_copy(staged, in + get_group_id(0) * 8, 8, 0);
    e = async_work_group_copy(wide, (global const float4*)in, 4, e);
    wait_group_events(1, &e);
    out[x] = staged[get_local_id(0) ^ 1] + wide[x & 3].z;
}
