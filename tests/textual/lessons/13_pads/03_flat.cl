// Of an array of one dimension the length of a row is what all its indices step over, or the shape that is given. Row
// and column are then computed from the element's number.
//
// RUN: coarsen apply %s --kernel turn --factor 1 --pad tile=1 | filecheck %s
// RUN: coarsen apply %s --kernel turn --factor 1 --pad tile=1 --shape tile=16,16 | filecheck %s
// RUN: not coarsen apply %s --kernel both --factor 1 --pad tile=1 2>&1 | filecheck %s --check-prefix REFUSED

kernel void both(global float *to, global const float *from)
{
    local float tile[256];
    int x = get_local_id(0), y = get_local_id(1);
    tile[y * 16 + x] = from[y * 16 + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    to[y * 16 + x] = tile[y * 8 + x];
}

kernel void turn(global float *to, global const float *from)
{
    local float tile[256];
    int x = get_local_id(0), y = get_local_id(1);
    tile[y * 16 + x] = from[y * 16 + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    to[y * 16 + x] = tile[x * 16 + y];
}

// CHECK: local float tile[16][17];
// CHECK: tile[(ulong)[[AT:[a-z_0-9]+]] / 16][(ulong)[[AT]] % 16] = from
// REFUSED: 03_flat.cl:12:{{[0-9]+}}: how long the rows of tile are is not known (its indices step over rows of 8, 16):
// REFUSED-SAME: {{ *}}give its shape, as in --shape tile=32,8 [layout-shape-unknown]
