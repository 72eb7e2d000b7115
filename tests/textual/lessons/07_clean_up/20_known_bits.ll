; 8 * a + 3 is odd, so it is neither 0 nor a multiple of 4, whatever a is. Whether 8 * a is 0 stays open.
;
; RUN: coarsen apply %s --factor 2 --emit ll | filecheck %s

target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
target triple = "spir64-unknown-unknown"

define spir_kernel void @k(ptr addrspace(1) %p, i32 %a, i32 %b) {
entry:
  %item = mul i32 %a, 8
  %item.3 = add i32 %item, 3
  %other = mul i32 %b, 4
  %same = icmp eq i32 %item.3, 0
  %different = icmp ne i32 %item.3, %other
  %open = icmp eq i32 %item, 0
  %chosen = select i1 %same, i32 %a, i32 %b
  %all = and i1 %different, %open
  %kept = select i1 %all, i32 %chosen, i32 0
  store i32 %kept, ptr addrspace(1) %p, align 4
  ret void
}

; CHECK: %open = icmp eq i32 %item, 0
; CHECK: %kept = select i1 %open, i32 %b, i32 0
