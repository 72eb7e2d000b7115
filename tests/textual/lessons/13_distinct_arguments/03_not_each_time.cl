// A store must not be added where there was none. The loop may end before its first store, or pass it by in each round:
// the sum stays in memory, and the report says why.
//
// RUN: coarsen apply %s --factor 2 --distinct | filecheck %s
// RUN: coarsen apply %s --factor 2 --distinct --report | filecheck %s --check-prefix REPORT

kernel void sometimes(global const int *from, global int *sums, int n)
{
    int x = get_global_id(0);
    for (int k = 0; k < n; k++)
        if (from[k] > 0)
            sums[x] += from[k];
}

// CHECK: if ([[LOADED:[a-z_0-9]+]] > 0) {
// CHECK: sums[x] +=
//
// REPORT: Distinct arguments: 0 accumulators of a loop kept in a register
// REPORT-NEXT: {{.*}}: sums, in the loop at {{.*}}: [not-each-time]
