; Multiplying by 1 and adding 0 is removed, one after the other: what was left of the first is what the second adds to.
; (As in all of these files, nothing differs between work-items: the body stands once, and only clean-up changes it.)
;
; RUN: coarsen apply %s --factor 2 --emit ll | filecheck %s

target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
target triple = "spir64-unknown-unknown"

define spir_kernel void @k(ptr addrspace(1) %p, i32 %a) {
entry:
  %once = mul nuw nsw i32 %a, 1
  %plus = add nuw nsw i32 %once, 0
  store i32 %plus, ptr addrspace(1) %p, align 4
  ret void
}

; CHECK: entry:
; CHECK-NEXT: store i32 %a, ptr addrspace(1) %p
