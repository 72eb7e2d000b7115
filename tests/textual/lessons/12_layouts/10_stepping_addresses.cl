// An address that steps on inside of an array in a record is refused: nobody knows where it leads, since a pointer to
// the record's first element could go through all of the record.
//
// RUN: not coarsen apply %s --factor 2 --layout bodies=deep-soa --shape bodies=1000 2>&1 | filecheck %s

typedef struct { float place[4]; int n; } Body;

kernel void steps(global Body *bodies, int k)
{
    size_t i = get_global_id(0);
    global float *from = bodies[i].place + (i & 1);
    from[k] = 0;
}

// CHECK: 10_stepping_addresses.cl:11:{{[0-9]+}}: an address in bodies does not step over whole elements [layout-mixed-types]
