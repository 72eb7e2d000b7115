// In a deep layout each element of an array inside of a record is a field: all place[0] side by side, then all place[1].
// They lie at one distance from each other, so that an index that is computed is multiplied by it. That it stays in
// its array is taken for granted, and said.
//
// RUN: coarsen apply %s --factor 2 --layout bodies=deep-soa --shape bodies=1000 2>&1 | filecheck %s
// RUN: coarsen apply %s --factor 2 --layout bodies=deep-soa --shape bodies=1000 --print-after layout 2>&1 | filecheck %s --check-prefix SOA
// RUN: coarsen apply %s --factor 2 --layout bodies=deep-aosoa:16 --print-after layout 2>&1 | filecheck %s --check-prefix TILES

typedef struct { float place[3]; int n; } Body;

kernel void move(global Body *bodies, int axis)
{
    size_t i = get_global_id(0);
    bodies[i].place[axis] = bodies[i].place[2] + bodies[i].n;
}

// CHECK: note: pack the buffer for bodies as deep-soa: just 1000 elements '16: 4@0 4@4 4@8 4@12', 16000 bytes
// CHECK: note: indices into arrays inside of the elements of bodies stay within these arrays
//
// Of place[2] the start is known: after 2 · 1000 · 4 bytes. From one element of place to the next it is 1000 · 4.
// SOA: [[THIRD:%[a-z0-9.]+]] = getelementptr inbounds{{( nuw)?}} i8, ptr addrspace(1) %bodies, i64 8000
// SOA-NEXT: getelementptr inbounds{{( nuw)?}} float, ptr addrspace(1) [[THIRD]], i64 %i.source
// SOA: [[FIRST:%[a-z0-9.]+]] = getelementptr inbounds{{( nuw)?}} float, ptr addrspace(1) %bodies, i64 %i.source
// SOA-NEXT: [[BYTES:%[a-z0-9.]+]] = mul{{.*}} i64 {{%[a-z0-9.]+}}, 4
// SOA-NEXT: [[FAR:%[a-z0-9.]+]] = mul{{.*}} i64 [[BYTES]], 1000
// SOA-NEXT: getelementptr inbounds{{( nuw)?}} i8, ptr addrspace(1) [[FIRST]], i64 [[FAR]]
//
// In tiles of 16 it is 16 · 4.
// TILES: [[LANE:%[a-z0-9.]+]] = getelementptr inbounds{{( nuw)?}} float, ptr addrspace(1)
// TILES: [[NEAR:%[a-z0-9.]+]] = mul{{.*}} i64 {{%[a-z0-9.]+}}, 16
// TILES-NEXT: getelementptr inbounds{{( nuw)?}} i8, ptr addrspace(1) {{%[a-z0-9.]+}}, i64 [[NEAR]]
// TILES-NEXT: store float
