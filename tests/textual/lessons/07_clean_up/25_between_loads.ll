; What stands between two loads of a place decides whether the second is done. Another load, arithmetic and a function
; that touches no memory let the first stand for it. A barrier, a fence, an atomic update or exchange, and a volatile
; load, even of other memory, keep them apart: they order what other work-items see.
;
; RUN: coarsen apply %s --factor 2 --emit ll | filecheck %s

target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
target triple = "spir64-unknown-unknown"

declare spir_func void @_Z7barrierj(i32)
declare spir_func void @_Z9mem_fencej(i32)
declare spir_func float @_Z4sqrtf(float) #0

define spir_kernel void @k(ptr addrspace(1) %p, ptr addrspace(1) %q, ptr addrspace(3) %l, float %x) {
entry:
  %v0 = load float, ptr addrspace(1) %p, align 4
  %other = load float, ptr addrspace(3) %l, align 4
  %v1 = load float, ptr addrspace(1) %p, align 4
  %root = call spir_func float @_Z4sqrtf(float %x) #0
  %quotient = fdiv float %root, %other
  %v2 = load float, ptr addrspace(1) %p, align 4
  call spir_func void @_Z7barrierj(i32 1) #1
  %v3 = load float, ptr addrspace(1) %p, align 4
  call spir_func void @_Z9mem_fencej(i32 1) #1
  %v4 = load float, ptr addrspace(1) %p, align 4
  fence seq_cst
  %v5 = load float, ptr addrspace(1) %p, align 4
  %old = atomicrmw add ptr addrspace(3) %l, i32 1 monotonic, align 4
  %v6 = load float, ptr addrspace(1) %p, align 4
  %pair = cmpxchg ptr addrspace(3) %l, i32 1, i32 2 monotonic monotonic, align 4
  %v7 = load float, ptr addrspace(1) %p, align 4
  %seen = load volatile float, ptr addrspace(3) %l, align 4
  %v8 = load float, ptr addrspace(1) %p, align 4
  %s0 = fadd float %v0, %v1
  %s1 = fadd float %s0, %v2
  %s2 = fadd float %s1, %v3
  %s3 = fadd float %s2, %v4
  %s4 = fadd float %s3, %v5
  %s5 = fadd float %s4, %v6
  %s6 = fadd float %s5, %v7
  %s7 = fadd float %s6, %v8
  %s8 = fadd float %s7, %quotient
  store float %s8, ptr addrspace(1) %q, align 4
  ret void
}

attributes #0 = { convergent nounwind willreturn memory(none) }
attributes #1 = { convergent nounwind }

; CHECK: %v0 = load
; CHECK-NOT: %v1 = load
; CHECK: call spir_func float @_Z4sqrtf
; CHECK-NOT: %v2 = load
; CHECK: @_Z7barrierj
; CHECK-NEXT: %v3 = load
; CHECK: @_Z9mem_fencej
; CHECK-NEXT: %v4 = load
; CHECK-NEXT: fence seq_cst
; CHECK-NEXT: %v5 = load
; CHECK: atomicrmw
; CHECK: %v6 = load
; CHECK: cmpxchg
; CHECK: %v7 = load
; CHECK: %seen = load volatile
; CHECK: %v8 = load
; CHECK: %s0 = fadd float %v0, %v0
; CHECK-NEXT: %s1 = fadd float %s0, %v0
; CHECK-NEXT: %s2 = fadd float %s1, %v3
