// A function that is declared and not defined: nobody knows what it does.
//
// RUN: not coarsen apply %s --factor 2 2>&1 | filecheck %s

int missing(int);

kernel void calls(global int *out)
{
    out[get_global_id(0)] = missing(3);
// CHECK: the function 'missing' has no definition [unknown-function]
}
