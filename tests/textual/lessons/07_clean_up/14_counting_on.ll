; (a + 1) * b + 7 is a * b + 7 plus b: an addition in place of a multiplication.
;
; RUN: coarsen apply %s --factor 2 --emit ll | filecheck %s

target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
target triple = "spir64-unknown-unknown"

define spir_kernel void @k(ptr addrspace(1) %p, i32 %a, i32 %b) {
entry:
  %a.1 = add i32 %a, 1
  %row = mul i32 %a, %b
  %row.1 = mul i32 %a.1, %b
  %index = add i32 %row, 7
  %index.1 = add i32 %row.1, 7
  %product = mul i32 %index, %index.1
  store i32 %product, ptr addrspace(1) %p, align 4
  ret void
}

; CHECK: %index = add i32 %row, 7
; CHECK: %index.1 = add i32 %index, %b
