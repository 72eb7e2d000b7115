kernel void atomics(global int* out, volatile global int* counter, global uint* limit, global float* swapped)
{
    int x = get_global_id(0);
    int l = get_local_id(0);
    atomic_add(counter, l);
    atomic_max(limit + 1, (uint)x);
    atomic_min((global int*)limit + 2, x);
    atomic_inc(counter + 1);
    atomic_dec(&counter[2]);
    atomic_and(counter + 3, ~l);
    atomic_or(counter + 4, l);
    atomic_xor(counter + 5, x);
    atomic_sub(counter + 6, 2);
    out[x] = atomic_cmpxchg(counter + 10 + x, counter[10 + x], x);
    swapped[x] = atomic_xchg(swapped + 40 + x, 2.5f);
    out[x] += atom_add(counter + 50 + x, 3);
}
