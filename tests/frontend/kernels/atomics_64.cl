// Sum, minimum and maximum of products too wide for 32 bits, by 64-bit atomics with their older names.
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

kernel void wide_statistics(global const int *left, global const int *right, volatile global long *statistics) {
    const size_t i = get_global_id(0);
    const long product = (long)left[i] * (long)right[i];
    atom_add(&statistics[0], product);
    atom_min(&statistics[1], product);
    atom_max(&statistics[2], product);
    atom_xor(&statistics[3], product);
}
