#pragma OPENCL EXTENSION cl_khr_fp64 : enable

kernel void double_arithmetic(global double* out, global const double* first, global const double* second)
{
    int x = get_global_id(0);
    double a = first[x], b = second[x];
    out[x] = a * b + 0.1 + (double)(float)a + sqrt(fabs(b)) + (double)(int)a;
}
