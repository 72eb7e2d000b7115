; Two instructions are the same if their operations, flags, types and operands are. Whether a division is exact, to what
; a number is extended, over what an address steps, which elements are taken and what is compared all count; so do
; promises in metadata: a range that holds for one load need not hold for another.
;
; RUN: coarsen apply %s --factor 2 --emit ll | filecheck %s

target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
target triple = "spir64-unknown-unknown"

define spir_kernel void @k(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %a, i32 %b, i64 %n, <4 x i32> %v) {
entry:
  %same.1 = udiv i32 %a, %b
  %same.2 = udiv i32 %a, %b
  %exact = udiv exact i32 %a, %b
  %signed = sdiv i32 %a, %b
  %less = icmp slt i32 %a, %b
  %below = icmp ult i32 %a, %b
  %one.1 = sext i1 %less to i32
  %one.2 = zext i1 %less to i32
  %one.3 = zext i1 %below to i32
  %step.1 = getelementptr float, ptr addrspace(1) %p, i64 %n
  %step.2 = getelementptr float, ptr addrspace(1) %p, i64 %n
  %step.3 = getelementptr double, ptr addrspace(1) %p, i64 %n
  %low = shufflevector <4 x i32> %v, <4 x i32> poison, <2 x i32> <i32 0, i32 1>
  %high = shufflevector <4 x i32> %v, <4 x i32> poison, <2 x i32> <i32 2, i32 3>
  %mixed = add <2 x i32> %low, %high
  %wide = load i32, ptr addrspace(1) %step.1, align 4
  %again = load i32, ptr addrspace(1) %step.2, align 4
  %small = load i32, ptr addrspace(1) %step.2, align 4, !range !0
  %far = load i32, ptr addrspace(1) %step.3, align 4
  store <2 x i32> %mixed, ptr addrspace(1) %q, align 8
  %s1 = xor i32 %same.1, %same.2
  %s2 = xor i32 %s1, %exact
  %s3 = xor i32 %s2, %signed
  %s4 = xor i32 %s3, %one.1
  %s5 = xor i32 %s4, %one.2
  %s6 = xor i32 %s5, %one.3
  %s7 = xor i32 %s6, %wide
  %s8 = xor i32 %s7, %again
  %s9 = xor i32 %s8, %small
  %all = xor i32 %s9, %far
  store i32 %all, ptr addrspace(1) %p, align 4
  ret void
}

!0 = !{i32 0, i32 8}

; CHECK: %same.1 = udiv i32 %a, %b
; CHECK-NEXT: %exact = udiv exact i32 %a, %b
; CHECK-NEXT: %signed = sdiv
; CHECK-NEXT: %less = icmp slt
; CHECK-NEXT: %below = icmp ult
; CHECK-NEXT: %one.1 = sext
; CHECK-NEXT: %one.2 = zext i1 %less
; CHECK-NEXT: %one.3 = zext i1 %below
; CHECK-NEXT: %step.1 = getelementptr float
; CHECK-NEXT: %step.3 = getelementptr double
; CHECK-NEXT: %low = shufflevector
; CHECK-NEXT: %high = shufflevector
; CHECK-NEXT: %mixed = add <2 x i32> %low, %high
; CHECK-NEXT: %wide = load i32, ptr addrspace(1) %step.1, align 4
; CHECK-NEXT: %small = load i32, ptr addrspace(1) %step.1, align 4, !range
; CHECK-NEXT: %far = load i32, ptr addrspace(1) %step.3
; CHECK: %s1 = xor i32 %same.1, %same.1
; CHECK: %s8 = xor i32 %s7, %wide
; CHECK-NEXT: %s9 = xor i32 %s8, %small
