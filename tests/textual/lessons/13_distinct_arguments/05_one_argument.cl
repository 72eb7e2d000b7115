// Distinct arguments say nothing of two places in one of them: sums[other] may be sums[x]. The two fields of a structure
// are apart whatever x is.
//
// RUN: coarsen apply %s --factor 2 --distinct --report -k places | filecheck %s
// RUN: coarsen apply %s --factor 2 --distinct --report -k fields | filecheck %s --check-prefix FIELDS

typedef struct { int count, sum; } Total;

kernel void places(global int *sums, int n, int other)
{
    int x = get_global_id(0);
    for (int k = 0; k < n; k++)
        sums[x] += sums[other];
}

kernel void fields(global Total *totals, int n)
{
    int x = get_global_id(0);
    for (int k = 0; k < n; k++) {
        totals[x].count += 1;
        totals[x].sum += totals[x].count;
    }
}

// CHECK: 0 accumulators
// CHECK-NEXT: [may-overlap]
//
// FIELDS: 2 accumulators
