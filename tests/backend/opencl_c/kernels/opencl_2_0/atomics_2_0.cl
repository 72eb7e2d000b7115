kernel void atomics_2_0(global atomic_int* counter, global int* out)
{
    int x = get_global_id(0);
    atomic_fetch_add_explicit(counter, 3, memory_order_relaxed, memory_scope_device);
    atomic_fetch_max(counter + 1, x);
    int e = 5;
    out[x] = atomic_compare_exchange_strong(counter + 40 + x, &e, 4) + e;
    atomic_store(counter + 2, 6);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    out[x] += atomic_load(counter + 80 + (x & 15)) + get_global_linear_id() + ctz(x);
}
