// An address may step on inside of an array in a record, where it certainly stays there: one of the first two elements,
// and one of the two after it, are elements of place, and nothing is taken for granted. Of an index that may be anything
// nobody knows where it leads: a pointer to the record's first element could go through all of the record.
//
// RUN: coarsen apply %s -k known --factor 2 --layout bodies=deep-soa --shape bodies=1000 2>&1 | filecheck %s
// RUN: not coarsen apply %s -k unknown --factor 2 --layout bodies=deep-soa --shape bodies=1000 2>&1 | filecheck %s --check-prefix NOT

typedef struct { float place[4]; int n; } Body;

kernel void known(global Body *bodies)
{
    size_t i = get_global_id(0);
    global float *from = bodies[i].place + (i & 1);
    for (int k = 1; k < 3; ++k)
        bodies[i].n += from[k];
}

kernel void unknown(global Body *bodies, int k)
{
    size_t i = get_global_id(0);
    global float *from = bodies[i].place + (i & 1);
    from[k] = 0;
}

// CHECK: note: pack the buffer for bodies as deep-soa: just 1000 elements
// CHECK-NOT: stay within
// NOT: 10_stepping_addresses.cl:22:{{[0-9]+}}: an address in bodies does not step over whole elements [layout-mixed-types]
