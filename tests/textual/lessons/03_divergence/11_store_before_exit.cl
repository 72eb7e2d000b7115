// Lock-step ends where the first replica leaves the loop, and the others start that iteration anew. That is right only
// if the iteration has done nothing yet that could be seen: a store before the exit forbids it.
//
// RUN: coarsen apply %s --factor 2 --report | filecheck %s

kernel void stores_first(global const int *in, global int *trace)
{
    int row = get_global_id(0);
    for (int k = 0;; ++k) {
        trace[row] = k;
        if (in[row + k] == 0)
            break;
        trace[row] += 1;
    }
}

// CHECK: 9:10 9–13 copies
// CHECK: 9:10 [effect-before-exit] an iteration may store, or the like, before it leaves the loop
