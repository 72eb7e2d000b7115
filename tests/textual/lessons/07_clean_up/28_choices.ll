; Logic with a constant, and a choice whose outcome is known or makes no difference, are what they come to, pointers too.
;
; RUN: coarsen apply %s --factor 2 --emit ll | filecheck %s

target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
target triple = "spir64-unknown-unknown"

define spir_kernel void @k(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %a, i32 %b) {
entry:
  %even = mul i32 %a, 2
  %odd = or i32 %even, 1
  %next = add i32 %even, 1
  %never = icmp eq i32 %next, 0
  %less = icmp slt i32 %a, %b
  %and = and i1 %less, %never
  %or = or i1 %never, %less
  %chosen = select i1 %and, i32 %a, i32 %b
  %alike = select i1 %or, ptr addrspace(1) %p, ptr addrspace(1) %p
  %itself = select i1 %less, i1 true, i1 false
  %not = xor i1 %less, true
  %bit = zext i1 %itself to i32
  %other = zext i1 %not to i32
  %sum = add i32 %bit, %other
  %product = udiv i32 %chosen, %sum
  store i32 %product, ptr addrspace(1) %alike, align 4
  store i32 %odd, ptr addrspace(1) %q, align 4
  ret void
}

; CHECK: %less = icmp slt i32 %a, %b
; CHECK-NEXT: %not = xor i1 %less, true
; CHECK-NEXT: %bit = zext i1 %less to i32
; CHECK-NEXT: %other = zext i1 %not to i32
; CHECK-NEXT: %sum = add
; CHECK-NEXT: %product = udiv i32 %b, %sum
; CHECK-NEXT: store i32 %product, ptr addrspace(1) %p, align 4
