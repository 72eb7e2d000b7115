; The atomic operations of OpenCL C 1.2 order nothing around them.
;
; RUN: not coarsen apply %s --factor 1 2>&1 | filecheck %s

define spir_kernel void @ordered(ptr addrspace(1) %counter) {
  %r = atomicrmw add ptr addrspace(1) %counter, i32 1 seq_cst, align 4
  ret void
}
; CHECK: [atomic-ordering]
