; A call is the same as another if both are of a function that touches no memory, with the same operands. Hints, such as
; `tail`, `noundef` and the number of a group of attributes, don't count. Of a function that may read memory no call
; stands for another, and an assumption names what now stands for its operands.
;
; RUN: coarsen apply %s --factor 2 --emit ll | filecheck %s

target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
target triple = "spir64-unknown-unknown"

declare spir_func float @_Z4sqrtf(float) #0
declare spir_func <4 x float> @_Z6vload4mPU3AS1Kf(i64, ptr addrspace(1)) #1
declare void @llvm.assume(i1)

define spir_kernel void @k(ptr addrspace(1) %p, ptr addrspace(1) %q, float %x, float %y, i64 %n) {
entry:
  %root = call spir_func float @_Z4sqrtf(float %x) #0
  %equal = tail call spir_func float @_Z4sqrtf(float noundef %x)
  %other = call spir_func float @_Z4sqrtf(float %y) #0
  %place = getelementptr float, ptr addrspace(1) %p, i64 %n
  %there = getelementptr float, ptr addrspace(1) %p, i64 %n
  call void @llvm.assume(i1 true) [ "align"(ptr addrspace(1) %there, i64 16) ]
  %v = call spir_func <4 x float> @_Z6vload4mPU3AS1Kf(i64 %n, ptr addrspace(1) %place) #1
  store float %root, ptr addrspace(1) %q, align 4
  %w = call spir_func <4 x float> @_Z6vload4mPU3AS1Kf(i64 %n, ptr addrspace(1) %place) #1
  %sum = fadd <4 x float> %v, %w
  store <4 x float> %sum, ptr addrspace(1) %p, align 16
  %product = fmul float %equal, %other
  store float %product, ptr addrspace(1) %q, align 4
  ret void
}

attributes #0 = { convergent nounwind willreturn memory(none) }
attributes #1 = { nounwind willreturn memory(argmem: read) }

; CHECK: %root = call spir_func float @_Z4sqrtf(float %x)
; CHECK-NEXT: %other = call spir_func float @_Z4sqrtf(float %y)
; CHECK-NEXT: %place = getelementptr
; CHECK-NEXT: call void @llvm.assume(i1 true) [ "align"(ptr addrspace(1) %place, i64 16) ]
; CHECK-NEXT: %v = call
; CHECK: %w = call
; CHECK: %product = fmul float %root, %other
