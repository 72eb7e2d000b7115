; Integers wrap round, so their sums may be reordered: b + (a + 1) - 1 is b + a.
;
; RUN: coarsen apply %s --factor 2 --emit ll | filecheck %s

target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
target triple = "spir64-unknown-unknown"

define spir_kernel void @k(ptr addrspace(1) %p, i32 %a, i32 %b) {
entry:
  %a.1 = add i32 %a, 1
  %left = add i32 %b, %a
  %right = add i32 %b, %a.1
  %back = sub i32 %right, 1
  %product = mul i32 %left, %back
  store i32 %product, ptr addrspace(1) %p, align 4
  ret void
}

; CHECK: %left = add i32 %b, %a
; CHECK: %product = mul i32 %left, %left
