// A tile whose width is no power of two has no remainder: in tiles of 5 an element's x lies at (i / 5) · (T - 5 · 4) + i · 4.
// That is one multiplication less, and NVIDIA's compiler gets addresses wrong that have i / 5 and i % 5 in an unrolled loop.
//
// RUN: coarsen apply %s --factor 2 --layout bodies=aosoa:5 --print-after layout 2>&1 | filecheck %s

typedef struct { float x; uint number; } Body;

kernel void sum(global const Body *bodies, global float *out, uint count)
{
    float total = 0.0f;
    for (uint i = get_global_id(0); i < count; i++)
        total += bodies[i].x * bodies[i].number;
    out[get_global_id(0)] = total;
}

// A tile has 5 · 8 = 40 bytes, of which 20 are numbers; these come after the 20 of x.
// CHECK-NOT: urem
// CHECK: [[TILE:%[a-z0-9._]+]] = udiv i64 [[I:%[a-z0-9._]+]], 5
// CHECK: [[OTHERS:%[a-z0-9._]+]] = mul{{.*}} i64 [[TILE]], 20
// CHECK: [[START:%[a-z0-9._]+]] = getelementptr inbounds{{( nuw)?}} i8, ptr addrspace(1) %bodies, i64 [[OTHERS]]
// CHECK: getelementptr inbounds{{( nuw)?}} float, ptr addrspace(1) [[START]], i64 [[I]]
// CHECK: udiv i64 {{%[a-z0-9._]+}}, 5
// CHECK: getelementptr inbounds{{( nuw)?}} i8, ptr addrspace(1) {{%[a-z0-9._]+}}, i64 20
// CHECK-NOT: urem
