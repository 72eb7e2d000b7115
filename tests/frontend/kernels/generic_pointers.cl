// OpenCL C 2.0: one helper for pointers to any address space.
static int sum_of(const int *values, int count) {
    int sum = 0;
    for (int i = 0; i < count; ++i) {
        sum += values[i];
    }
    return sum;
}

__attribute__((noinline)) static void add_to(int *place, int amount) { *place += amount; }

kernel void generic_pointers(global int *data, global int *sums, int span) {
    local int shared_values[64];
    int own[4];
    const int item = get_local_id(0), i = get_global_id(0);
    shared_values[item] = data[i];
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 4; ++k) {
        own[k] = data[i] * k;
    }
    const int *chosen = (item & 1) ? (const int *)own : (const int *)(data + (i & ~3));
    sums[i] = sum_of(chosen, 4) + shared_values[item ^ 1] + sum_of(&data[i / span * span], span);
    add_to(&sums[i], item);
}
