// A pointer that goes round a loop is no access: not all uses of the array can be rewritten. The place is named. So it
// is for an access that may reach from one row into the next.
//
// RUN: not coarsen apply %s --factor 1 --pad tile=1 2>&1 | filecheck %s
// RUN: not coarsen apply %s --factor 1 --pad other=1 2>&1 | filecheck %s --check-prefix ROWS

kernel void walk(global float *to)
{
    local float tile[4][8], other[4][8];
    int x = get_local_id(0);
    for (local float *p = tile[x]; *p > 0; ++p)
        to[x] += *p;
    vstore4((float4)(x), 0, &other[0][x]);
    to[x] += other[x][0];
}

// CHECK: 05_refused.cl:11:{{[0-9]+}}: an address in tile is used by 'phi'{{.*}} [layout-pointer-escapes]
// ROWS: 05_refused.cl:13:{{[0-9]+}}: an instruction may access elements of two rows of other [layout-mixed-types]
