// What nothing changes while the kernel runs may be read through a GPU's read-only cache: restrict in OpenCL C, and
// ld.global.nc in PTX. Of a pointer that is restrict nothing need be said.
//
// RUN: coarsen apply %s --factor 1 --place from=noncoherent 2>&1 | filecheck %s
// RUN: coarsen apply %s --factor 1 --place from=noncoherent --emit ptx | filecheck %s --check-prefix PTX
// RUN: coarsen apply %s --factor 1 --emit ptx | filecheck %s --check-prefix AS_WRITTEN

kernel void scale(global float *restrict to, global float *from)
{
    to[get_global_id(0)] = from[get_global_id(0)] * 2;
}

// CHECK: note: pass for from a buffer that nothing changes meanwhile{{$}}
// CHECK: kernel void scale(global float* restrict to, global const float* restrict from)
// PTX: ld.global.nc
// AS_WRITTEN-NOT: ld.global.nc
// AS_WRITTEN: ld.global
// AS_WRITTEN-NOT: ld.global.nc
