; OpenCL C's widest integer has 64 bits.
;
; RUN: not coarsen apply %s --factor 1 2>&1 | filecheck %s

define spir_kernel void @wide(ptr addrspace(1) %out, i32 %a) {
  %w = zext i32 %a to i128
  %x = mul i128 %w, %w
  %y = mul i128 %x, %x
  %z = lshr i128 %y, 90
  %r = trunc i128 %z to i32
  store i32 %r, ptr addrspace(1) %out, align 4
  ret void
}
; CHECK: OpenCL C has no integer of 128 bits [integer-width]
