// A histogram in local memory, then in global memory: addresses differ, results are used.
kernel void atomic_divergent_address(global const uint *values, global uint *histogram, global uint *seen) {
    local uint bins[16];
    const uint item = get_local_id(0);
    const uint items = get_local_size(0);
    for (uint bin = item; bin < 16; bin += items) {
        bins[bin] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint bin = values[get_global_id(0)] & 15;
    const uint before = atomic_add(&bins[bin], 1u);
    if (before == 0) {
        atomic_or(&seen[0], 1u << bin);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint bin = item; bin < 16; bin += items) {
        atomic_add(&histogram[bin], bins[bin]);
    }
}
