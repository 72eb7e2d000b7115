// CPUs vectorise over work-items themselves. There a loop goes in lock-step only where the replicas share at least half
// of its loads; here each loads its own.
//
// RUN: coarsen apply %s --factor 2 --device-kind cpu --report | filecheck %s --check-prefix CPU
// RUN: coarsen apply %s --factor 2 --device-kind gpu --report | filecheck %s --check-prefix GPU

kernel void own_loads(global const int *lengths, global const float *rows, global float *sums)
{
    int row = get_global_id(0);
    float sum = 0;
    for (int k = 0; k < lengths[row]; ++k)
        sum += rows[row * 64 + k];
    sums[row] = sum;
}

// CPU: 11:10 11–12 copies
// CPU: 11:10 [too-little-shared] 0 of the loop's 2 loads are shared, too few to gain on a CPU
//
// GPU: 11:10 11–12 lock-step
// GPU-NOT: Why not more
