#pragma OPENCL EXTENSION cl_khr_fp64 : enable

kernel void vector_double(global double2* out, global const double2* first, global const double2* second)
{
    int x = get_global_id(0);
    double2 a = first[x], b = second[x];
    out[x] = a * b + select(a, b, a < b);
}
