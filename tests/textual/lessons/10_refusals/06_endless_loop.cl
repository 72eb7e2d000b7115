// Where some work-items never come back, those merged with them never would. The place is that of the loop itself, be
// it in a function that the kernel calls.
//
// RUN: not coarsen apply %s --kernel waits --factor 2 2>&1 | filecheck %s
// RUN: not coarsen apply %s --kernel calls --factor 2 2>&1 | filecheck %s --check-prefix HELPER

kernel void waits(global int *flags)
{
    if (flags[get_global_id(0)])
        for (;;)
            atomic_inc(flags);
    flags[1] = 2;
// CHECK: [endless-loop]
}

void forever(global int *p)
{
    for (;;)
        atomic_inc(p);
}

kernel void calls(global int *p, int n)
{
    for (int i = 0; i < n; ++i)
        p[i] = i;
    p[1] = 2;
    forever(p);
// HELPER: 06_endless_loop.cl:18:5: a loop of this kernel never ends [endless-loop]
}
