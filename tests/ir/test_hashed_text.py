"""Rows that were stored by older releases are found again: the text that is hashed is LLVM's own."""

from __future__ import annotations

from coarsen.ir.hashed_text import hashed_text

PRINTED = """\
; ModuleID = '<string>'
source_filename = "k.cl"
target datalayout = "e-p:64:64"
target triple = "spir64"

%pair = type { i32, float }

@k.tile = internal addrspace(3) global [64 x float] undef, align 4
@k.other = internal addrspace(3) global [64 x %pair] undef, align 4

; Function Attrs: nocallback nounwind memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(ptr captures(none)) #0

declare i32 @plain(i32)

; Function Attrs: convergent norecurse nounwind

define spir_kernel void @k(ptr addrspace(1) %out) #1 !kernel_arg_name !3 {
entry:
  call void @llvm.lifetime.start.p0(ptr null) #0
  br label %end

end:
  ret void
}

; Function Attrs: convergent nounwind
declare i64 @_Z13get_global_idj(i32) #2

attributes #0 = { nocallback nounwind memory(argmem: readwrite) }
attributes #1 = { convergent norecurse nounwind "frame-pointer"="all" "uniform-work-group-size"="true" }
attributes #2 = { convergent nounwind "no-builtins" }

!llvm.module.flags = !{!0}
!opencl.ocl.version = !{!1}
!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 1, i32 2}
!3 = !{!"out"}
"""
KEPT = """\
source_filename = "k.cl"
target datalayout = "e-p:64:64"
target triple = "spir64"
%pair = type { i32, float }
@k.tile = internal addrspace(3) global [64 x float] undef, align 4
@k.other = internal addrspace(3) global [64 x %pair] undef, align 4
declare void @llvm.lifetime.start.p0(ptr captures(none)) #0
declare i32 @plain(i32)

define spir_kernel void @k(ptr addrspace(1) %out) #1 !kernel_arg_name !3 {
entry:
  call void @llvm.lifetime.start.p0(ptr null) #0
  br label %end

end:
  ret void
}
declare i64 @_Z13get_global_idj(i32) #2
attributes #0 = { nocallback nounwind memory(argmem: readwrite) }
attributes #1 = { convergent norecurse nounwind "frame-pointer"="all" "uniform-work-group-size"="true" }
attributes #2 = { convergent nounwind "no-builtins" }
!llvm.module.flags = !{!0}
!opencl.ocl.version = !{!1}
!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 1, i32 2}
!3 = !{!"out"}
"""


def test_what_the_compiler_keeps_becomes_what_llvm_prints() -> None:
    assert hashed_text(KEPT) == PRINTED


def test_what_llvm_printed_stays_as_it_is() -> None:
    assert hashed_text(PRINTED) == PRINTED
