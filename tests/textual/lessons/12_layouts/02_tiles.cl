// Tiles of 32 elements, each a small structure of arrays, need not know how many elements there are.
//
// RUN: coarsen apply %s --factor 2 --layout bodies=aosoa:32 --print-after layout 2>&1 | filecheck %s

typedef struct { float x; uchar tag; double mass; short kind; } Body;

kernel void tag(global Body *bodies)
{
    size_t i = get_global_id(0);
    bodies[i].tag = 1;
}

// A tile has 32 · 15 = 480 bytes; tags come after 14 bytes of each element.
// CHECK: [[TILE:%[a-z0-9.]+]] = udiv i64 %i.source, 32
// CHECK: mul i64 [[TILE]], 480
// CHECK: [[LANE:%[a-z0-9.]+]] = urem i64 %i.source, 32
// CHECK: getelementptr inbounds{{( nuw)?}} i8, ptr addrspace(1) {{%[a-z0-9.]+}}, i64 448
// CHECK: getelementptr inbounds{{( nuw)?}} i8, ptr addrspace(1) {{%[a-z0-9.]+}}, i64 [[LANE]]
// CHECK: note: pack the buffer for bodies as aosoa:32: elements '24: 4@0 1@4 8@8 2@16'
