// Two records change places through registers, their padding with them. It has no place in another layout: what only
// copies it is left out. An access to padding that does anything else is refused.
//
// RUN: coarsen apply %s --kernel swap --factor 2 --layout all=soa --shape all=100 | filecheck %s
// RUN: not coarsen apply %s --kernel mark --factor 2 --layout all=soa 2>&1 | filecheck %s --check-prefix REFUSED

typedef struct { double mass; int count; short kind; uchar tag; } Full;

kernel void swap(global Full *all)
{
    size_t i = 2 * get_global_id(0);
    Full first = all[i], second = all[i + 1];
    if (first.count > second.count) {
        all[i] = second;
        all[i + 1] = first;
    }
}

kernel void mark(global Full *all)
{
    all[get_global_id(0)].kind = 1;
    *(&all[get_global_id(0)].tag + 1) = 2;
}

// CHECK: kernel void swap
// CHECK-NOT: [15]
// CHECK-NOT: 1500
// REFUSED: 07_copied_padding.cl:22:{{[0-9]+}}: an instruction accesses padding: it can't be split [layout-mixed-types]
