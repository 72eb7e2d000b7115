// OpenCL C has no recursion; such a function can't be inlined either.
//
// RUN: not coarsen apply %s --factor 2 2>&1 | filecheck %s

int fibonacci(int n) { return n < 2 ? 1 : fibonacci(n - 1) + fibonacci(n - 2); }

kernel void numbers(global int *out)
{
    out[get_global_id(0)] = fibonacci(out[0]);
// CHECK: the helper function 'fibonacci' calls itself [recursion]
}
