// A pointer made of a number may lead anywhere, into any argument's memory: nothing is taken for granted then.
//
// RUN: coarsen apply %s --factor 2 --distinct 2>&1 | filecheck %s

kernel void addresses(global const ulong *where, global int *sums, int n)
{
    int x = get_global_id(0);
    for (int k = 0; k < n; k++)
        sums[x] += *(global int *)where[k];
}

// CHECK: note: nothing is gained by distinct arguments: not every access is known to go through an argument
// CHECK-NOT: restrict
// CHECK: sums[x] +=
