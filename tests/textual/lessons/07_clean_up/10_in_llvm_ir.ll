; What may change memory keeps loads apart, seen in LLVM IR: the body is uniform, so it stands once, and only clean-up
; changes it. A fence, an atomic operation, a function that is not known to leave memory alone, and a barrier each
; separate two loads of the same place; arithmetic between them does not.
;
; RUN: coarsen apply %s --factor 2 --emit ll | filecheck %s

target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
target triple = "spir64-unknown-unknown"

declare spir_func void @_Z7barrierj(i32)

define spir_kernel void @separated(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %a, i32 %b) {
entry:
  %together = load i32, ptr addrspace(1) %p, align 4
  %x = udiv i32 %a, %b
  %same = load i32, ptr addrspace(1) %p, align 4
  %sum = add i32 %together, %same
  %y = udiv i32 %a, %b
  %total = add i32 %sum, %x
  %all = add i32 %total, %y
  store i32 %all, ptr addrspace(1) %q, align 4
  %after.store = load i32, ptr addrspace(1) %p, align 4
  call spir_func void @_Z7barrierj(i32 2) #0
  %after.barrier = load i32, ptr addrspace(1) %p, align 4
  fence seq_cst
  %after.fence = load i32, ptr addrspace(1) %p, align 4
  %one = add i32 %after.store, %after.barrier
  %two = add i32 %one, %after.fence
  %place = getelementptr i32, ptr addrspace(1) %q, i64 1
  store i32 %two, ptr addrspace(1) %place, align 4
  ret void
}

attributes #0 = { convergent nounwind }

; CHECK: define spir_kernel void @separated(
; CHECK: %together = load i32, ptr addrspace(1) %p
; CHECK-NEXT: %x = udiv i32 %a, %b
; CHECK-NEXT: %sum = add i32 %together, %together
; CHECK-NEXT: %total = add i32 %sum, %x
; CHECK-NEXT: %all = add i32 %total, %x
; CHECK-NEXT: store i32 %all, ptr addrspace(1) %q
; CHECK-NEXT: %after.store = load i32, ptr addrspace(1) %p
; CHECK-NEXT: call spir_func void @_Z7barrierj(i32 2)
; CHECK-NEXT: %after.barrier = load i32, ptr addrspace(1) %p
; CHECK-NEXT: fence seq_cst
; CHECK-NEXT: %after.fence = load i32, ptr addrspace(1) %p
