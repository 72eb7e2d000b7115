// Where some work-items never come back, those merged with them never would.
//
// RUN: not coarsen apply %s --factor 2 2>&1 | filecheck %s

kernel void waits(global int *flags)
{
    if (flags[get_global_id(0)])
        for (;;)
            atomic_inc(flags);
    flags[1] = 2;
// CHECK: [endless-loop]
}
