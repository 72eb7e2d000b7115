"""What LLVM gives back as it was stays the object that it was."""

from __future__ import annotations

import pytest

from coarsen.errors import InternalError
from coarsen.ir.graph.check import check_function
from coarsen.ir.graph.former import FormerModule, Lines
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.module_parser import parse_module
from coarsen.ir.graph.printer import instruction_text, module_text

GIVEN = """\
@v = internal addrspace(3) global i32 undef, align 4
declare void @f(i32)

define void @k(i32 noundef %n, ptr addrspace(1) %p) {
entry:
  %a = add i32 %n, 1
  %b = mul i32 %a, 2
  %c = icmp slt i32 %a, %b
  store i32 %b, ptr addrspace(1) %p, align 4
  store i32 %b, ptr addrspace(1) %p, align 4
  store ptr addrspace(3) @v, ptr addrspace(1) %p, align 4
  call void @f(i32 %b)
  br i1 %c, label %then, label %end

then:
  br label %end

end:
  %d = phi i32 [ %a, %entry ], [ %b, %then ]
  call void @f(i32 %d)
  ret void
}
"""
# Another sum; a block and a comparison are gone, a store stands in another block.
GIVEN_BACK = """\
@v = internal addrspace(3) global i32 0, align 4
declare void @f(i32) nounwind

define void @k(i32 %n, ptr addrspace(1) %p) {
entry:
  %a = add i32 %n, 3
  %b = mul i32 %a, 2
  store i32 %b, ptr addrspace(1) %p, align 4
  store ptr addrspace(3) @v, ptr addrspace(1) %p, align 4
  call void @f(i32 %b)
  br label %end

end:
  store i32 %b, ptr addrspace(1) %p, align 4
  %d = add i32 %a, %b
  call void @f(i32 %d)
  ret void
}
"""


def given() -> tuple[Module, Lines]:
    module = parse_module(GIVEN)
    lines = {instruction_text(each): each for each in module.function("k").instructions()}
    return module, lines


def test_the_text_is_that_of_a_module_that_is_read_anew() -> None:
    module, lines = given()
    back = parse_module(GIVEN_BACK, former=FormerModule(module, {"k": lines}))
    assert module_text(back) == module_text(parse_module(GIVEN_BACK))
    check_function(back.function("k"))


def test_what_is_unchanged_is_the_same_object() -> None:
    module, lines = given()
    former = dict(lines)
    back = parse_module(GIVEN_BACK, former=FormerModule(module, {"k": lines}))
    now = {instruction_text(each): each for each in back.function("k").instructions()}
    assert now["%b = mul i32 %a, 2"] is former["%b = mul i32 %a, 2"]
    assert now["%a = add i32 %n, 3"] is now["%b = mul i32 %a, 2"].operands[0]
    assert back.callees["f"] is module.callees["f"]
    assert back.callees["f"].declaration == "declare void @f(i32) nounwind"
    assert back.variables["v"].definition == "internal addrspace(3) global i32 0, align 4"
    assert [argument.attributes for argument in back.function("k").arguments] == ["", ""]


def test_nothing_that_is_gone_keeps_a_use() -> None:
    module, lines = given()
    back = parse_module(GIVEN_BACK, former=FormerModule(module, {"k": lines}))
    there = {*back.function("k").instructions()}
    for named in (*back.callees.values(), *back.variables.values(), *back.function("k").arguments, *there):
        assert {use.user for use in named.uses} <= there


def test_what_is_sealed_is_not_taken_apart() -> None:
    module, lines = given()
    module.seal()
    with pytest.raises(InternalError, match="sealed"):
        parse_module(GIVEN_BACK, former=FormerModule(module, {"k": lines}))
    assert module_text(module) == module_text(parse_module(GIVEN))


def test_a_value_that_is_used_must_be_there() -> None:
    module, lines = given()
    with pytest.raises(InternalError, match="'a' is used and not"):
        parse_module(GIVEN_BACK.replace("  %a = add i32 %n, 3\n", ""), former=FormerModule(module, {"k": lines}))
