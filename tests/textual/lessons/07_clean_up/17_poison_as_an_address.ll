; An address that is poison must not be loaded from. Since this kernel loads from one made of %checked, %checked is no
; poison wherever the kernel gets to, and stands for the equal sum.
;
; RUN: coarsen apply %s --factor 2 --emit ll | filecheck %s

target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
target triple = "spir64-unknown-unknown"

define spir_kernel void @k(ptr addrspace(1) %p, ptr addrspace(3) %l, i32 %a, i32 %b) {
entry:
  %checked = add nsw i32 %a, %b
  %i = sext i32 %checked to i64
  %q = getelementptr float, ptr addrspace(1) %p, i64 %i
  %v = load float, ptr addrspace(1) %q, align 4
  %a.1 = add i32 %a, 1
  %right = add nsw i32 %a.1, %b
  %wrapped = sub nsw i32 %right, 1
  store i32 %wrapped, ptr addrspace(3) %l, align 4
  store float %v, ptr addrspace(1) %p, align 4
  ret void
}

; CHECK: store i32 %checked, ptr addrspace(3) %l
