; 1 << a is poison for large a, and then so is a + (1 << a) + b - (1 << a): it does not stand for b + a, though the shifts
; cancel out.
;
; RUN: coarsen apply %s --factor 2 --emit ll | filecheck %s

target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
target triple = "spir64-unknown-unknown"

define spir_kernel void @k(ptr addrspace(1) %p, ptr addrspace(3) %l, i32 %a, i32 %b) {
entry:
  %power = shl i32 1, %a
  %more = add i32 %a, %power
  %most = add i32 %more, %b
  %back = sub i32 %most, %power
  %plain = add i32 %b, %a
  store i32 %plain, ptr addrspace(1) %p, align 4
  store i32 %back, ptr addrspace(3) %l, align 4
  ret void
}

; CHECK: store i32 %plain, ptr addrspace(1) %p
; CHECK-NEXT: store i32 %back, ptr addrspace(3) %l
