// Merged groups stand side by side: a stride is for work-items, whose neighbours share cache lines.
//
// RUN: not coarsen apply %s --factor 2 --stride 4 --level group 2>&1 | filecheck %s

kernel void group_ids(global int *out)
{
    out[get_group_id(0)] = 7;
}

// CHECK: error: a stride needs the level of work-items: --stride goes with --level item
