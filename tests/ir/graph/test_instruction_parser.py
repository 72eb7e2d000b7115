"""Instructions that few kernels have: to the graph and back to the letter, as LLVM prints them."""

from __future__ import annotations

import pytest

from coarsen.ir.graph.details import AtomicUpdate
from coarsen.ir.graph.module_parser import parse_module
from coarsen.ir.graph.printer import module_text
from coarsen.ir.modules import assembly_module

AROUND = """\
%struct.pair = type {{ i32, float }}

declare i32 @printf(ptr addrspace(2), ...)

declare void @g()

define spir_kernel void @k(ptr addrspace(1) %p, i32 %n, float %x, <4 x i32> %v, %struct.pair %s, ptr %f) {{
entry:
  {line}
  ret void
}}
"""
LINES = (
    "%r = atomicrmw add ptr addrspace(1) %p, i32 %n monotonic, align 4",
    '%r = atomicrmw volatile umax ptr addrspace(1) %p, i32 1 syncscope("workgroup") acq_rel, align 4',
    "%r = cmpxchg ptr addrspace(1) %p, i32 0, i32 %n seq_cst monotonic, align 4",
    'fence syncscope("agent") release',
    "%r = load atomic i32, ptr addrspace(1) %p acquire, align 4",
    "store atomic volatile i32 %n, ptr addrspace(1) %p monotonic, align 4",
    "%r = alloca i32, i32 %n, align 4",
    "%r = alloca [3 x <4 x float>], align 16",
    "%r = getelementptr inbounds nuw %struct.pair, ptr addrspace(1) %p, i32 0, i32 1",
    "%r = extractvalue %struct.pair %s, 1",
    "%r = insertvalue %struct.pair %s, float %x, 1",
    "%r = shufflevector <4 x i32> %v, <4 x i32> poison, <2 x i32> <i32 1, i32 poison>",
    "%r = shufflevector <4 x i32> %v, <4 x i32> poison, <4 x i32> zeroinitializer",
    "%r = fadd reassoc nnan float %x, 0x7FF8000000000000",
    "%r = fneg fast float %x",
    "%r = fcmp ninf une float %x, -0.000000e+00",
    "%r = icmp samesign ult i32 %n, -7",
    "%r = freeze i32 %n",
    "%r = or disjoint i32 %n, 1",
    "%r = trunc nuw nsw i32 %n to i8",
    "%r = tail call i32 (ptr addrspace(2), ...) @printf(ptr addrspace(2) null, double 1.000000e+00)",
    "%r = call spir_func noundef zeroext i8 %f(i8 noundef signext 3, ptr byval(%struct.pair) align 4 %f)",
    'call void @g() [ "align"(ptr addrspace(1) %p, i32 %n), "cold"() ]',
    'call void @g() nounwind [ "first"(float %x) ]',
    "%r = select i1 true, <4 x i32> %v, <4 x i32> splat (i32 1)",
)


@pytest.mark.parametrize("line", LINES)
def test_an_instruction_comes_back_to_the_letter(line: str) -> None:
    text = AROUND.format(line=line)
    printed = module_text(parse_module(text))
    assert f"  {line}\n" in printed
    with assembly_module(text) as expected, assembly_module(printed) as found:
        assert str(found) == str(expected)


def test_an_exchange_says_how_it_fails() -> None:
    module = parse_module(AROUND.format(line=LINES[2]))
    exchange = module.function("k").entry.instructions[0]
    assert isinstance(exchange.detail, AtomicUpdate)
    assert (exchange.detail.access.ordering, exchange.detail.failure) == ("seq_cst", "monotonic")
    assert str(exchange.type) == "{ i32, i1 }"


def test_operands_in_bundles_are_no_arguments_and_know_of_their_uses() -> None:
    function = parse_module(AROUND.format(line=LINES[-3])).function("k")
    call = function.entry.instructions[0]
    pointer, number = function.arguments[:2]
    assert not call.arguments
    assert call.callee == "g"
    pointer.replace_all_uses(number)
    assert [operand.text for operand in call.operands] == ["n", "n", "g"]
