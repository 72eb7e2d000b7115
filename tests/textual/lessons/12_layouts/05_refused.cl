// An address that goes round a loop is no access: not all uses of the array can be rewritten. The place is named.
//
// RUN: not coarsen apply %s --factor 2 --layout points=soa --shape points=100 2>&1 | filecheck %s

typedef struct { float x, y; } Point;

kernel void walk(global const Point *points, global Point *others, int n)
{
    float sum = 0;
    for (global const Point *p = points + get_global_id(0); p->x > 0; p += n)
        sum += p->y;
    others[get_global_id(0)].x = sum;
}

// CHECK: 05_refused.cl:10:{{[0-9]+}}: an address in points is used by 'phi'{{.*}} [layout-pointer-escapes]
