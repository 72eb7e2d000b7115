; But not where the load comes after a barrier, which may wait for ever: nothing says that the load is reached.
;
; RUN: coarsen apply %s --factor 2 --emit ll | filecheck %s

target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
target triple = "spir64-unknown-unknown"

declare spir_func void @_Z7barrierj(i32) #0
attributes #0 = { convergent nounwind }

define spir_kernel void @k(ptr addrspace(1) %p, ptr addrspace(3) %l, i32 %a, i32 %b) {
entry:
  %checked = add nsw i32 %a, %b
  %a.1 = add i32 %a, 1
  %right = add nsw i32 %a.1, %b
  %wrapped = sub nsw i32 %right, 1
  store i32 %wrapped, ptr addrspace(3) %l, align 4
  call spir_func void @_Z7barrierj(i32 1) #0
  %i = sext i32 %checked to i64
  %q = getelementptr float, ptr addrspace(1) %p, i64 %i
  %v = load float, ptr addrspace(1) %q, align 4
  store float %v, ptr addrspace(1) %p, align 4
  ret void
}

; CHECK: store i32 %wrapped, ptr addrspace(3) %l
; CHECK-NEXT: call spir_func void @_Z7barrierj(i32 1)
