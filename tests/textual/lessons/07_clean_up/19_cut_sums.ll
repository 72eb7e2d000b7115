; A sum cut to 32 bits is the sum of what was cut: a + (int)(n + 1) - 1 is a + (int)n.
;
; RUN: coarsen apply %s --factor 2 --emit ll | filecheck %s

target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
target triple = "spir64-unknown-unknown"

define spir_kernel void @k(ptr addrspace(1) %p, i32 %a, i64 %n) {
entry:
  %n.1 = add i64 %n, 1
  %x = trunc i64 %n to i32
  %x.1 = trunc i64 %n.1 to i32
  %i = add i32 %a, %x
  %i.1 = add i32 %a, %x.1
  %left.1 = sub i32 %i.1, 1
  %product = mul i32 %left.1, %i
  store i32 %product, ptr addrspace(1) %p, align 4
  ret void
}

; CHECK: %product = mul i32 %i, %i
