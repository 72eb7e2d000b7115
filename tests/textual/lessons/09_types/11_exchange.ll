; Whether a compare-and-exchange took place is a truth value: as a signed number it is -1, not 1. OpenCL C's builtin gives
; the old value alone, so the comparison is written out.
;
; RUN: coarsen apply %s --factor 2 | filecheck %s

target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
target triple = "spir64-unknown-unknown"

define spir_kernel void @exchanged(ptr addrspace(1) %b, ptr addrspace(1) %p, i32 %s) {
  %i = call spir_func i64 @_Z13get_global_idj(i32 0)
  %old = cmpxchg ptr addrspace(1) %b, i32 %s, i32 5 monotonic monotonic
  %ok = extractvalue { i32, i1 } %old, 1
  %flag = sext i1 %ok to i32
  %q = getelementptr i32, ptr addrspace(1) %p, i64 %i
  store i32 %flag, ptr addrspace(1) %q
  ret void
}

declare spir_func i64 @_Z13get_global_idj(i32)

; CHECK: int old = atomic_cmpxchg(
; CHECK: -(old == s)
