; What a loop computes does not stand for the same after it: a value leaves a loop by a phi alone (LCSSA).
;
; RUN: coarsen apply %s --factor 2 --emit ll | filecheck %s

target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
target triple = "spir64-unknown-unknown"

define spir_kernel void @k(ptr addrspace(1) %p, i32 %a, i32 %b) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %x = udiv i32 %a, %b
  %v = load float, ptr addrspace(1) %p, align 4
  store float %v, ptr addrspace(1) %p, align 4
  %next = add i32 %i, 1
  %again = icmp ult i32 %next, %x
  br i1 %again, label %loop, label %exit
exit:
  %y = udiv i32 %a, %b
  store i32 %y, ptr addrspace(1) %p, align 4
  ret void
}

; CHECK: %x = udiv i32 %a, %b
; CHECK: %y = udiv i32 %a, %b
; CHECK: store i32 %y
