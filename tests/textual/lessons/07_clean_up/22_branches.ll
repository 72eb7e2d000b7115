; Only what was computed on every way to a place stands for a value there: %v does for the load in `then`, since nothing
; stored in between, but not for the one in `join`, which a store may come before; %x of `then` does not stand for %z.
;
; RUN: coarsen apply %s --factor 2 --emit ll | filecheck %s

target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
target triple = "spir64-unknown-unknown"

define spir_kernel void @k(ptr addrspace(1) %p, ptr addrspace(3) %l, i32 %a, i32 %b, i1 %c) {
entry:
  %v = load float, ptr addrspace(1) %p, align 4
  br i1 %c, label %then, label %join
then:
  %w = load float, ptr addrspace(1) %p, align 4
  %x = udiv i32 %a, %b
  store float %w, ptr addrspace(3) %l, align 4
  br label %join
join:
  %y = load float, ptr addrspace(1) %p, align 4
  %z = udiv i32 %a, %b
  store float %y, ptr addrspace(3) %l, align 4
  store i32 %z, ptr addrspace(1) %p, align 4
  store float %v, ptr addrspace(3) %l, align 4
  ret void
}

; CHECK: then:
; CHECK-NOT: load
; CHECK: store float %v, ptr addrspace(3) %l
; CHECK: join:
; CHECK: %y = load float
; CHECK: %z = udiv i32 %a, %b
