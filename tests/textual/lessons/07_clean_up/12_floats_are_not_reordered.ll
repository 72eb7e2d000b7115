; Sums of floats stay in their order, and an addition that may be reordered (fast) is another one than one that may not.
;
; RUN: coarsen apply %s --factor 2 --emit ll | filecheck %s

target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
target triple = "spir64-unknown-unknown"

define spir_kernel void @k(ptr addrspace(1) %p, float %f, float %g) {
entry:
  %x = fadd float %f, %g
  %y = fadd float %x, 1.000000e+00
  %z = fadd float %g, 1.000000e+00
  %w = fadd float %f, %z
  %fast = fadd fast float %f, %g
  %one = fadd float %y, %w
  %two = fadd float %one, %fast
  store float %two, ptr addrspace(1) %p, align 4
  ret void
}

; CHECK: %x = fadd float %f, %g
; CHECK-NEXT: %y = fadd float %x, 1.0
; CHECK-NEXT: %z = fadd float %g, 1.0
; CHECK-NEXT: %w = fadd float %f, %z
; CHECK-NEXT: %fast = fadd fast float %f, %g
; CHECK-NEXT: %one = fadd float %y, %w
; CHECK-NEXT: %two = fadd float %one, %fast
