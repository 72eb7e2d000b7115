; Two phis of one block that take the same from the same blocks are one; what they take may itself have become one value.
; A phi of another block is another, whatever it takes: the ways that lead there differ.
;
; RUN: coarsen apply %s --factor 2 --emit ll | filecheck %s

target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
target triple = "spir64-unknown-unknown"

define spir_kernel void @k(ptr addrspace(1) %p, ptr addrspace(3) %l, i32 %a, i32 %b, i1 %c) {
entry:
  br i1 %c, label %left, label %first
left:
  %x = udiv i32 %a, %b
  %y = udiv i32 %a, %b
  store i32 %y, ptr addrspace(3) %l, align 4
  br label %first
first:
  %one = phi i32 [ %x, %left ], [ 0, %entry ]
  %same = phi i32 [ %y, %left ], [ 0, %entry ]
  %other = phi i32 [ %x, %left ], [ 1, %entry ]
  %sum = xor i32 %one, %same
  store i32 %sum, ptr addrspace(1) %p, align 4
  store i32 %other, ptr addrspace(3) %l, align 4
  %d = icmp slt i32 %a, %b
  br i1 %d, label %right, label %second
right:
  store i32 %b, ptr addrspace(1) %p, align 4
  br label %second
second:
  %two = phi i32 [ %a, %right ], [ 0, %first ]
  %three = phi i32 [ %one, %right ], [ 0, %first ]
  store i32 %two, ptr addrspace(1) %p, align 4
  store i32 %three, ptr addrspace(3) %l, align 4
  ret void
}

; CHECK: first:
; CHECK-NEXT: %one = phi i32 [ %x, %left ], [ 0, %entry ]
; CHECK-NEXT: %other = phi i32 [ %x, %left ], [ 1, %entry ]
; CHECK-NEXT: %sum = xor i32 %one, %one
; CHECK: second:
; CHECK-NEXT: %two = phi i32 [ %a, %right ], [ 0, %first ]
; CHECK-NEXT: %three = phi i32 [ %one, %right ], [ 0, %first ]
