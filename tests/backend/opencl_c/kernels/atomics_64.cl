#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

kernel void atomics_64(global long* out, volatile global long* counter, global ulong* limit)
{
    int x = get_global_id(0);
    atom_add(counter, (long)x << 33);
    atom_max(limit + 1, (ulong)x);
    atom_xor(counter + 2, (long)x);
    out[x] = atom_cmpxchg(counter + 10 + x, 3L, 4L) + atom_inc(limit + 50 + x);
}
