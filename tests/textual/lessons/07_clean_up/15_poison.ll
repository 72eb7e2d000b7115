; A sum marked as never overflowing (nsw) is *poison* where it does: using it then is undefined. So it must not stand for
; an equal sum that is defined everywhere.
;
; RUN: coarsen apply %s --factor 2 --emit ll | filecheck %s

target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
target triple = "spir64-unknown-unknown"

define spir_kernel void @k(ptr addrspace(1) %p, ptr addrspace(3) %l, i32 %a, i32 %b) {
entry:
  %checked = add nsw i32 %a, %b
  %a.1 = add i32 %a, 1
  %right = add i32 %a.1, %b
  %wrapped = sub i32 %right, 1
  store i32 %wrapped, ptr addrspace(1) %p, align 4
  store i32 %checked, ptr addrspace(3) %l, align 4
  ret void
}

; CHECK: store i32 %wrapped, ptr addrspace(1) %p
; CHECK-NEXT: store i32 %checked, ptr addrspace(3) %l
