// Address spaces are in the instructions: global, shared (OpenCL's local), local (OpenCL's private) memory, and constant
// memory, which is read through the cache for data that is not written.
//
// RUN: coarsen apply %s --factor 1 --emit ptx | filecheck %s

constant float table[4] = {1, 2, 3, 4};

kernel void spaces(global float *a, constant float *c, int n)
{
    local float tile[32];
    float own[4] = {a[0], a[1], a[2], a[n + 4]};
    tile[get_local_id(0)] = table[n] + c[n];
    barrier(CLK_LOCAL_MEM_FENCE);
    a[get_global_id(0)] = tile[n] + own[n];
}

// CHECK: .global .align 4 .b8 table[16] =
// CHECK-NOT: .const
// CHECK: .shared .align 4 .b8 spaces_$_tile[128];
// CHECK: ld.global.b32
// CHECK: st.local.b32
// CHECK: ld.global.nc.b32
// CHECK: st.shared.b32
// CHECK: bar.sync 0;
// CHECK: ld.shared.b32
// CHECK: ld.local.b32
// CHECK: st.global.b32
