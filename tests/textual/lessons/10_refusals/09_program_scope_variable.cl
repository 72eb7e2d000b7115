// A variable of the program keeps its value from one launch to the next, and from one kernel to another, which a
// coarsened kernel in a program of its own would not share.
//
// RUN: not coarsen apply %s --factor 2 --cl-std CL2.0 2>&1 | filecheck %s

global int total;

kernel void sums(global int *values)
{
    total += values[get_global_id(0)];
// CHECK: [[# @LINE - 1]]:{{[0-9]+}}: the program-scope variable 'total' {{.*}} [program-scope-variable]
}
