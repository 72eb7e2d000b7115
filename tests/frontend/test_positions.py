"""Instructions keep their place in the source: the kernel's, its helpers' and its headers'."""

from __future__ import annotations

from pathlib import Path

from coarsen.errors import SourcePosition
from coarsen.frontend.lower import lower
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.kernel import Kernel

SOURCE = """\
int twice(int x) {
    return x * 2;
}

kernel void k(global int *a) {
    const int i = get_global_id(0);
    if (i > 3) {
        a[i] = twice(a[i]);
    }
}
"""


def only(kernel: Kernel, opcode: str) -> Instruction:
    (found,) = [i for i in kernel.instructions() if i.opcode == opcode]
    return found


def test_kernel_and_helper() -> None:
    kernel = lower(SOURCE)
    assert only(kernel, "call").position == SourcePosition(6, 19)
    assert only(kernel, "store").position == SourcePosition(8, 14)
    assert only(kernel, "mul").position == SourcePosition(2, 14)
    assert kernel.blocks[0].terminator.position == SourcePosition(7, 11)


def test_header_is_named(tmp_path: Path) -> None:
    header = tmp_path / "helper.h"
    header.write_text("\n\nint twice(int x) { return x * 2; }\n")
    path = tmp_path / "kernel.cl"
    path.write_text('#include "helper.h"\nkernel void k(global int *a) { a[0] = twice(a[1]); }\n')
    kernel = lower(path)
    position = only(kernel, "mul").position
    assert position is not None
    assert (position.line, position.column) == (3, 29)
    assert position.file.endswith("helper.h")
    assert only(kernel, "store").position == SourcePosition(2, 37)


def test_line_directive_is_followed() -> None:
    kernel = lower('#line 40 "generated.cl"\nkernel void k(global int *a) { a[0] = 7; }')
    position = only(kernel, "store").position
    assert position is not None
    assert str(position) == "generated.cl:40:37"


def test_both_calls_of_a_helper_keep_its_place() -> None:
    kernel = lower("int f(int x) {\n return x * x; }\nkernel void k(global int *a) { a[0] = f(a[1]) + f(a[2]); }")
    products = [i for i in kernel.instructions() if i.opcode == "mul"]
    assert [i.position for i in products] == [SourcePosition(2, 11)] * 2


def test_the_call_that_was_inlined_is_known_too() -> None:
    kernel = lower(f"int third(int x) {{ return x / 3; }}\n{SOURCE.replace('x * 2', 'third(x) * 2')}")
    for opcode, position in (("sdiv", SourcePosition(1, 29)), ("mul", SourcePosition(3, 21))):
        inlined = only(kernel, opcode)
        assert (inlined.position, inlined.call_position) == (position, SourcePosition(9, 16))
    assert only(kernel, "store").call_position is None


def test_no_debug_information_no_position() -> None:
    kernel = lower(
        "define spir_kernel void @k(ptr addrspace(1) %a) { store i32 1, ptr addrspace(1) %a\nret void }"
    )
    assert only(kernel, "store").position is None
