; OpenCL C has no bfloat.
;
; RUN: not coarsen apply %s --factor 1 2>&1 | filecheck %s

define spir_kernel void @brain(ptr addrspace(1) %out, i32 %a) {
  %f = sitofp i32 %a to bfloat
  %g = fadd bfloat %f, %f
  %r = fptosi bfloat %g to i32
  store i32 %r, ptr addrspace(1) %out, align 4
  ret void
}
; CHECK: [unsupported-type]
