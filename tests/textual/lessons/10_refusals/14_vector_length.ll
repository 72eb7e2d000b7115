; OpenCL C has vectors of 2, 3, 4, 8 and 16.
;
; RUN: not coarsen apply %s --factor 1 2>&1 | filecheck %s

define spir_kernel void @five(ptr addrspace(1) %out, i32 %a) {
  %v = insertelement <5 x i32> poison, i32 %a, i32 0
  %w = add <5 x i32> %v, %v
  %r = extractelement <5 x i32> %w, i32 0
  store i32 %r, ptr addrspace(1) %out, align 4
  ret void
}
; CHECK: OpenCL C has no vector of 5 elements [vector-length]
