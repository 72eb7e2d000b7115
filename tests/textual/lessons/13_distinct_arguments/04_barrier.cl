// Others may read a sum at a barrier, and write it after one. Where one is in the loop, each round must leave the sum
// in memory.
//
// RUN: coarsen apply %s --factor 2 --distinct --report | filecheck %s
// RUN: coarsen apply %s --factor 2 --distinct | filecheck %s --check-prefix CODE

kernel void passing(global int *sums, int n)
{
    int x = get_global_id(0);
    for (int k = 0; k < n; k++) {
        sums[x] += k;
        barrier(CLK_GLOBAL_MEM_FENCE);
        int other = sums[x ^ 1];
        barrier(CLK_GLOBAL_MEM_FENCE);
        sums[x] += other;
    }
}

// CHECK: 0 accumulators
// CHECK-NEXT: [memory-ordered]
//
// CODE: for (
// CODE: sums[x] += k;
// CODE: barrier(CLK_GLOBAL_MEM_FENCE);
// CODE: sums[x] +=
