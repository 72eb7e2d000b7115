// Two work-items that are merged can't wait for each other: the second would wait here for the lock that the first
// gives back only further down. One that takes the lock for its whole group, alone, may be merged with others of the
// group, but not with those of other groups.
//
// RUN: not coarsen apply %s --kernel each_item --factor 2 2>&1 | filecheck %s --check-prefix ITEMS
// RUN: coarsen apply %s --kernel each_group --factor 2 | filecheck %s --check-prefix ONE
// RUN: not coarsen apply %s --kernel each_group --factor 2 --level group 2>&1 | filecheck %s --check-prefix GROUPS

void take(volatile global int *lock)
{
    while (atomic_cmpxchg(lock, 0, 1) != 0) { }
}

kernel void each_item(volatile global int *lock, global int *total, global const int *x)
{
    take(lock);
    *total += x[get_global_id(0)];
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    atomic_xchg(lock, 0);
}

kernel void each_group(volatile global int *lock, global int *total, global const int *x)
{
    if (get_local_id(0) == 0) {
        take(lock);
        *total += x[get_group_id(0)];
        mem_fence(CLK_GLOBAL_MEM_FENCE);
        atomic_xchg(lock, 0);
    }
}

// ITEMS: 18_waits_for_another.cl:11:12: this loop waits for what another work-item does to 'lock', and that one may be merged with it [waits-for-another]
// ONE: atomic_cmpxchg(lock, 0, 1)
// GROUPS: 18_waits_for_another.cl:11:12: this loop waits for what another work-group does to 'lock', and that one may be merged with it [waits-for-another]
