"""Origins that go through LLVM's passes: the same whether or not all results have locations."""

from __future__ import annotations

import pytest

from coarsen.errors import SourcePosition
from coarsen.frontend.normal_form import normalised
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.module_parser import parse_module
from coarsen.ir.graph.origin import Origin

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


@pytest.mark.parametrize("text", [LOOP, COMPARED])
def test_each_value_that_comes_back_has_its_origin(text: str) -> None:
    given = module_of(text).function("k")
    before = {each.name: each.origin for each in given.instructions() if each.name}
    after = [*normalised(module_of(text)).function("k").instructions()]
    kept = [each for each in after if each.name in before]
    assert kept or text is COMPARED
    assert all(each.origin == before[each.name] for each in kept)
    stored, stored_before = ([i.origin for i in f if i.opcode == "store"] for f in (after, given.instructions()))
    assert stored == stored_before
