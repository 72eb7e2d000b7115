// PTX has approximations of elementary functions alone: precise ones are a library of NVIDIA's.
//
// RUN: not coarsen apply %s --factor 1 --emit ptx 2>&1 | filecheck %s
// RUN: coarsen apply %s --factor 1 --emit ptx --build-option -cl-fast-relaxed-math | filecheck %s --check-prefix FAST

kernel void waves(global float *a)
{
    a[0] = sin(a[1]);
// CHECK: [[# @LINE - 1]]:12: sin has no counterpart in PTX without NVIDIA's libdevice; use native_sin or build with -cl-fast-relaxed-math [ptx-unsupported]
}

// FAST: sin.approx.f32
