// At most one of the merged work-items is number 0: there are no others to share with, and no fast path.
//
// RUN: coarsen apply %s --factor 2 --report | filecheck %s

kernel void leader(global int *out, local int *sums)
{
    int l = get_local_id(0);
    if (l == 0)
        out[get_group_id(0)] = sums[0] * 3 + sums[1] * 5 + sums[2] * 7 + sums[3];
}

// CHECK: 8:11 9 copies
// CHECK: 8:11 [for-one-alone] at most one of the merged work-items goes into the region
