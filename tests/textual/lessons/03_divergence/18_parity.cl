// What looks divergent may be decided by the factor: with factor 2 the first replica's local id is always even, the
// second one's always odd. These *known bits* answer both conditions, and no branch is left.
//
// Global ids don't say that: a launch may start at an odd offset.
//
// RUN: coarsen apply %s --factor 2 --kernel by_local_id | filecheck %s --check-prefix LOCAL
// RUN: coarsen apply %s --factor 2 --kernel by_global_id | filecheck %s --check-prefix GLOBAL

kernel void by_local_id(global int *out, global const int *a, global const int *b)
{
    uint l = get_local_id(0);
    if (l % 2 == 0)
        out[l] = a[l] * 3;
    else
        out[l] = b[l] / 5;
}

kernel void by_global_id(global int *out, global const int *a, global const int *b)
{
    uint i = get_global_id(0);
    if (i % 2 == 0)
        out[i] = a[i] * 3;
    else
        out[i] = b[i] / 5;
}

// LOCAL: uint l_2 = l + 1;
// LOCAL-NEXT: if (l % 2 == 0) {
// LOCAL: out[l] = b[l] / 5;
// LOCAL-NEXT: }
// LOCAL-NEXT: out[l_2] = b[l_2] / 5;
// LOCAL-NEXT: }
//
// GLOBAL: if (i % 2 == 0) {
// GLOBAL: if (i_2 % 2 == 0) {
