// In PTX, what a kernel only reads through an argument that overlaps no other is read by way of the non-coherent cache.
//
// RUN: coarsen apply %s --factor 2 --distinct --emit ptx | filecheck %s
// RUN: coarsen apply %s --factor 2 --emit ptx | filecheck %s --check-prefix GENERAL

kernel void add(global const float *a, global float *c)
{
    int x = get_global_id(0);
    c[x] += a[x];
}

// CHECK: ld.global.nc
// CHECK: ld.global{{(\.b32|\.f32)}}
// CHECK: st.global
//
// GENERAL-NOT: ld.global.nc
