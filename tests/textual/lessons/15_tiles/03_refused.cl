// A loop that is left where its data says so can't be cut into strips: nobody knows which trips there will be. A loop whose
// bound differs between work-items has no place where all of them meet.
//
// RUN: not coarsen apply %s --kernel left_early --factor 2 --local-size 64 --tile 8 2>&1 | filecheck %s --check-prefix EARLY
// RUN: not coarsen apply %s --kernel of_each_its_own --factor 2 --local-size 64 --tile 8 2>&1 | filecheck %s --check-prefix OWN
// RUN: not coarsen apply %s --kernel left_early --factor 2 --tile 8 2>&1 | filecheck %s --check-prefix SIZE

kernel void left_early(global int *to, global const int *from, int n)
{
    int x = get_global_id(0), sum = 0;
    for (int k = 0; k < n && sum < 9; ++k)
        sum += from[k];
    to[x] = sum;
}

kernel void of_each_its_own(global int *to, global const int *from, int n)
{
    int x = get_global_id(0), sum = 0;
    for (int k = 0; k < x; ++k)
        sum += from[k];
    to[x] = sum;
}

// EARLY: [tile-loop-unknown]
// OWN: [tile-not-together]
// SIZE: give the launch's local size (--local-size) [place-extent-unknown]
