// A loop that is entered in the middle has no iteration that could be replicated.
//
// RUN: not coarsen apply %s --factor 2 2>&1 | filecheck %s

kernel void jumps(global int *out, int n)
{
    int i = 0;
    if (n > 3)
        goto second;
first:
    out[i] = 1;
// CHECK: 07_irreducible.cl:[[# @LINE - 1]]:5: a loop of this kernel is entered at more than one place [irreducible]
    i++;
second:
    out[i + 1] = 2;
    i++;
    if (i < n)
        goto first;
}
