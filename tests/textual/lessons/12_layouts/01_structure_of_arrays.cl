// With --layout the kernel works on a structure of arrays: each field lies by itself, those of large alignment first.
// What the host must pass is said.
//
// RUN: coarsen apply %s --factor 2 --layout bodies=soa --shape bodies=1000 2>&1 | filecheck %s
// RUN: coarsen apply %s --factor 2 --layout bodies=soa --shape bodies=1000 --print-after layout 2>&1 | filecheck %s --check-prefix IR

typedef struct { float x; uchar tag; double mass; short kind; } Body;

kernel void move(global Body *bodies)
{
    size_t i = get_global_id(0);
    bodies[i].mass = bodies[i].mass * 2;
    bodies[i].x = bodies[i].kind;
}

// The record of 24 bytes has 15 bytes of data: mass first, then x after 1000 · 8 bytes, then kind after 1000 · 12.
// CHECK: note: pack the buffer for bodies as soa: just 1000 elements '24: 4@0 1@4 8@8 2@16', 15000 bytes
// CHECK: ((global double*)bodies)[global_id_x]
// CHECK: ((global short*)&bodies[12000])[global_id_x]
//
// IR: [[MASS:%[a-z0-9.]+]] = getelementptr inbounds{{( nuw)?}} double, ptr addrspace(1) %bodies, i64 %i.source
// IR-NEXT: load double, ptr addrspace(1) [[MASS]], align 8
// IR: [[KINDS:%[a-z0-9.]+]] = getelementptr inbounds{{( nuw)?}} i8, ptr addrspace(1) %bodies, i64 12000
// IR-NEXT: getelementptr inbounds{{( nuw)?}} i16, ptr addrspace(1) [[KINDS]], i64 %i.source
