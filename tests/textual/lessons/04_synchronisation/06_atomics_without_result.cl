// That holds where the result is not used, too: each work-item counts.
//
// RUN: coarsen apply %s --factor 4 | filecheck %s

kernel void histogram(volatile global uint *bins)
{
    atomic_inc(bins);
}

// CHECK-COUNT-4: atomic_inc(bins);
// CHECK-NOT: atomic_inc
