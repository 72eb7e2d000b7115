// Two elements of an array inside of a record lie apart in a deep layout. An access to both is split where it is known
// which they are; where an index chooses them, it is refused. As they lie in the source, the kernel is as it was.
//
// RUN: not coarsen apply %s --factor 2 --layout counts=deep-soa --shape counts=100 2>&1 | filecheck %s
// RUN: coarsen apply %s --factor 2 --layout counts=soa --shape counts=100 2>&1 | filecheck %s --check-prefix WHOLE

typedef struct { int bins[4]; } Counts;

kernel void clear(global Counts *counts, int bin)
{
    size_t i = get_global_id(0);
    *(global ulong *)&counts[i].bins[2] = 0;
    *(global ulong *)&counts[i].bins[bin] = 0;
}

// CHECK: 09_deep_refused.cl:13:{{[0-9]+}}: an instruction accesses several fields, or parts of them, that an index chooses: it can't be split [layout-mixed-types]
// WHOLE: the buffer for counts stays as it is: elements '16: 16@0'
