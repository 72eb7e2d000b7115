; A name is not a constant: %rue is known to be false, and `true` is not that value after its first letter.
;
; RUN: coarsen apply %s --factor 2 --emit ll | filecheck %s

target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
target triple = "spir64-unknown-unknown"

define spir_kernel void @k(ptr addrspace(1) %p, i32 %a, i1 %c) {
entry:
  %eight = mul i32 %a, 8
  %rue = trunc i32 %eight to i1
  %nine = add i32 %eight, 1
  %one = trunc i32 %nine to i1
  %same = icmp eq i1 %one, true
  %kept = select i1 %same, i1 %rue, i1 %c
  %number = zext i1 %kept to i32
  store i32 %number, ptr addrspace(1) %p, align 4
  ret void
}

; CHECK: %same = icmp eq i1 %one, true
