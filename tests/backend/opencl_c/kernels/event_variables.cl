kernel void event_variables(global float* out, global const float* in, local float* staged, local float4* wide)
{
    int x = get_global_id(0);
    global const float* own = in + get_group_id(0) * 8;
    event_t none = 0;
    event_t kept[2];
    kept[0] = none;
    kept[1] = none;
    event_t e = none;
    for (int i = 0; i < 2; i++) {
        kept[i] = async_work_group_copy(staged + i * 4, own + i * 4, 4, kept[i]);
        e = async_work_group_copy(wide + i, (global const float4*)in + i, 1, e);
    }
    event_t chosen, other;
    if (in[0] > 0.5f) {
        chosen = kept[0];
        other = kept[1];
    } else {
        chosen = kept[1];
        other = kept[0];
    }
    wait_group_events(1, &e);
    wait_group_events(1, &chosen);
    wait_group_events(1, &other);
    out[x] = staged[get_local_id(0) ^ 1] + wide[x & 1].z;
}
