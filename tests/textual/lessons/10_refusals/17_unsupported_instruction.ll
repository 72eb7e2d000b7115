; An atomic load has no form in OpenCL C 1.2.
;
; RUN: not coarsen apply %s --factor 1 2>&1 | filecheck %s

define spir_kernel void @loads(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %r = load atomic i32, ptr addrspace(1) %in monotonic, align 4
  store i32 %r, ptr addrspace(1) %out, align 4
  ret void
}
; CHECK: [unsupported-instruction]
