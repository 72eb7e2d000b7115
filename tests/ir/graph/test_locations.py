"""Origins that go through LLVM's passes: the same whether or not all results have locations."""

from __future__ import annotations

import pytest

from coarsen.errors import SourcePosition
from coarsen.frontend.normal_form import normalised, renormalised
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.locations import located_text
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.module_parser import parse_module
from coarsen.ir.graph.origin import Origin
from coarsen.ir.graph.printer import module_text

# LLVM gives the loop a block before it, and a phi through which the sum leaves it.
LOOP = """\
define spir_kernel void @k(i32 %n, i1 %c, ptr addrspace(1) %p) {
entry:
  br i1 %c, label %left, label %loop

left:
  store i32 %n, ptr addrspace(1) %p, align 4
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ 0, %left ], [ %next, %loop ]
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end

end:
  store i32 %next, ptr addrspace(1) %p, align 4
  ret void
}
"""
# LLVM makes one comparison of three.
COMPARED = """\
define spir_kernel void @k(i32 %n, ptr addrspace(1) %p) {
entry:
  %one = icmp eq i32 %n, 1
  br i1 %one, label %then, label %second

second:
  %two = icmp eq i32 %n, 2
  br i1 %two, label %then, label %third

third:
  %three = icmp eq i32 %n, 3
  br i1 %three, label %then, label %end

then:
  store i32 %n, ptr addrspace(1) %p, align 4
  br label %end

end:
  ret void
}
"""


def module_of(text: str) -> Module:
    """A module of which each instruction and block comes from a line of its own."""
    module = parse_module(text)
    function = module.function("k")
    placed: list[Block | Instruction] = [*function.blocks, *function.instructions()]
    for line, each in enumerate(placed):
        each.origin = Origin(SourcePosition(line + 1, 1))
    return module


def with_all_locations(module: Module) -> Module:
    text, origins = located_text(module)
    with renormalised(text) as in_normal_form:
        return origins.parse(str(in_normal_form))


@pytest.mark.parametrize("text", [LOOP, COMPARED])
def test_origins_are_the_same_with_few_locations(text: str) -> None:
    few, all_ = normalised(module_of(text)), with_all_locations(module_of(text))
    assert module_text(few) == module_text(all_)
    for one, other in zip(few.function("k").blocks, all_.function("k").blocks, strict=True):
        assert one.origin == other.origin
        assert [each.origin for each in one.instructions] == [each.origin for each in other.instructions]


@pytest.mark.parametrize(("text", "is_enough"), [(LOOP, True), (COMPARED, False)])
def test_few_locations_are_not_enough_for_what_llvm_makes_of_values(text: str, is_enough: bool) -> None:
    given, origins = located_text(module_of(text), is_complete=False)
    with renormalised(given) as in_normal_form:
        assert origins.suffice(str(in_normal_form)) is is_enough
