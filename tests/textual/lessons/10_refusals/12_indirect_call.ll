; OpenCL C has no function pointers; LLVM IR has.
;
; RUN: not coarsen apply %s --factor 2 2>&1 | filecheck %s

define spir_kernel void @calls(ptr %function) {
  call void %function()
  ret void
}
; CHECK: a call through a pointer can't be analysed [indirect-call]
