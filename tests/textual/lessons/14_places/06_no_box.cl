// What a work-group reads must be known before the kernel begins: not where what is read decides which work-items leave
// early, nor where an index is read from memory. Then nothing is copied, and the read is named.
//
// RUN: not coarsen apply %s --kernel inside --factor 1 --place from=local 2>&1 | filecheck %s
// RUN: not coarsen apply %s --kernel gathered --factor 1 --place from=local 2>&1 | filecheck %s --check-prefix DATA

kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void inside(global int *to, global const int *from, global const int *is_done)
{
    int x = get_global_id(0);
    if (is_done[x]) return;
    to[x] = from[x] + from[x + 1];
}

kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void gathered(global int *to, global const int *from, global const int *index)
{
    int x = get_global_id(0);
    to[x] = from[index[x]];
}

// CHECK: 06_no_box.cl:12:{{[0-9]+}}: what a work-group reads of from isn't known: an element doesn't tell whether work-items come to this read of it [place-footprint-unknown]
// DATA: 06_no_box.cl:19:{{[0-9]+}}: what a work-group reads of from isn't known: its index depends on more {{.*}} [place-footprint-unknown]
