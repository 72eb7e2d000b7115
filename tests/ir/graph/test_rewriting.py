"""Splitting, copying, replacing and erasing keep the graph's links right."""

from __future__ import annotations

import copy
import pickle

import pytest

from coarsen.errors import InternalError, RefusalError
from coarsen.ir.graph.builder import Builder, number
from coarsen.ir.graph.display_name import DisplayName
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Block, Instruction, users
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.module_parser import parse_module
from coarsen.ir.graph.names import make_names_unique
from coarsen.ir.graph.operands import Constant
from coarsen.ir.graph.origin import Origin, Role
from coarsen.ir.graph.printer import function_lines, instruction_text, module_text
from coarsen.ir.graph.rewriting import (
    ValueMap,
    copy_blocks,
    copy_module,
    for_replica,
    restored,
    split_block,
    split_entry,
    stored,
)
from coarsen.ir.modules import assembly_module
from coarsen.ir.types import IntegerType, PointerType
from tests.ir.graph.check import check_function

LOOP = """\
@tile = internal addrspace(3) global [64 x i32] undef, align 4
@tile.1 = internal addrspace(3) global [64 x i32] undef, align 4

define spir_kernel void @k(ptr addrspace(1) %out, i32 %n) {
entry:
  %start = mul i32 %n, 2
  br label %loop

loop:
  %i = phi i32 [ %start, %entry ], [ %next, %loop ]
  %next = add i32 %i, 1
  store i32 %i, ptr addrspace(3) getelementptr inbounds (i32, ptr addrspace(3) @tile, i64 4), align 4
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %left

left:
  %last = phi i32 [ %next, %loop ]
  store i32 %last, ptr addrspace(1) %out, align 4
  ret void
}
"""


def parsed(text: str = LOOP) -> tuple[Module, Function]:
    module = parse_module(text)
    return module, module.function("k")


def called(function: Function, name: str) -> Instruction:
    return next(i for i in function.instructions() if i.name == name)


def block(function: Function, name: str) -> Block:
    return next(b for b in function.blocks if b.name == name)


def assert_valid(module: Module) -> None:
    for function in module.functions.values():
        make_names_unique(function)
        check_function(function)
    with assembly_module(module_text(module)):
        pass


def test_a_value_that_is_used_before_its_line_knows_its_uses() -> None:
    _, function = parsed()
    following = called(function, "next")
    assert [user.name or user.opcode for user in users(following)] == ["i", "more", "last"]
    check_function(function)


def test_all_uses_are_replaced() -> None:
    module, function = parsed()
    start = called(function, "start")
    start.replace_all_uses(number(IntegerType(32), 3))
    assert instruction_text(called(function, "i")) == "%i = phi i32 [ 3, %entry ], [ %next, %loop ]"
    function.entry.erase(start)
    assert_valid(module)


def test_a_variable_is_replaced_inside_of_constant_expressions() -> None:
    module, function = parsed()
    module.variables["tile"].replace_all_uses(module.variables["tile.1"])
    assert not module.variables["tile"].uses
    assert len(module.variables["tile.1"].uses) == 1
    assert "@tile.1, i64 4)" in module_text(module)
    with pytest.raises(InternalError, match="can't name"):
        module.variables["tile.1"].replace_all_uses(called(function, "start"))
    assert_valid(module)


def test_a_block_is_split_and_its_successors_follow() -> None:
    module, function = parsed()
    loop = block(function, "loop")
    rest = split_block(loop, 2, "loop.rest")
    Builder(loop, Origin(role=Role.GUARD)).branch(rest)
    assert [b.name for b in function.blocks] == ["entry", "loop", "loop.rest", "left"]
    assert called(function, "i").incoming == ("entry", "loop.rest")
    assert called(function, "last").incoming == ("loop.rest",)
    assert_valid(module)


def test_allocas_stay_in_the_entry_wherever_they_stand() -> None:
    text = LOOP.replace("  %start =", "  %first = alloca i32\n  %start =").replace(
        "  br label %loop\n", "  %late = alloca i32\n  br label %loop\n", 1
    )
    module, function = parsed(text)
    body = split_entry(function, "entry.body")
    assert [each.name for each in function.entry.instructions] == ["first", "late"]
    assert body.instructions[0].name == "start"
    Builder(function.entry, Origin(role=Role.GUARD)).branch(body)
    assert_valid(module)


def test_a_region_is_copied_with_what_comes_round_its_loop() -> None:
    module, function = parsed()
    values = ValueMap()
    values[module.variables["tile"]] = module.variables["tile.1"]
    (copied,) = copy_blocks([block(function, "loop")], values, for_replica(1))
    entry, left = function.entry, block(function, "left")
    function.add_after(block(function, "loop"), copied)
    loop = block(function, "loop")
    loop.terminator.set_block(1, copied)
    called(function, "last").set_operands([values.operand(called(function, "next"))], [copied])
    phi = copied.phis[0]
    phi.set_block(phi.blocks.index(entry), loop)
    assert copied.terminator.blocks == [copied, left]
    assert {i.origin.replica for i in copied.instructions} == {1}
    assert_valid(module)
    assert [i.name for i in copied.instructions if i.name] == ["i.1", "next.1", "more.1"]
    assert "@tile.1, i64 4)" in instruction_text(copied.instructions[2])


def test_a_region_s_map_does_not_hold_the_kernel_s() -> None:
    _, function = parsed()
    start, following = called(function, "start"), called(function, "next")
    kernel, seven = ValueMap(), number(IntegerType(32), 7)
    kernel[start] = seven
    region = ValueMap(kernel)
    region[following] = start
    assert region.find(start) is seven
    assert following in region
    assert following not in kernel


def test_what_is_used_is_not_erased() -> None:
    _, function = parsed()
    with pytest.raises(InternalError, match="is used"):
        function.entry.erase(called(function, "start"))
    with pytest.raises(InternalError, match="is used"):
        function.erase(block(function, "left"))


def test_an_erased_block_is_forgotten_by_the_phis_after_it() -> None:
    module, function = parsed()
    loop = block(function, "loop")
    side = function.append(Block("side"))
    Builder(side, Origin()).branch(block(function, "left"))
    called(function, "last").add_incoming(number(IntegerType(32), 0), side)
    function.erase(side)
    assert called(function, "last").blocks == [loop]
    assert_valid(module)


def test_left_out_instructions_are_forgotten() -> None:
    module, function = parsed()
    loop = block(function, "loop")
    loop.replace_instructions([i for i in loop.instructions if i.opcode != "store"])
    assert not module.variables["tile"].uses
    assert_valid(module)


def test_a_copied_module_shares_nothing_that_changes() -> None:
    module, function = parsed()
    function.seal()
    before = module_text(module)
    copied, values = copy_module(module)
    new = copied.function("k")
    assert values.find(called(function, "next")) is called(new, "next")
    called(new, "start").replace_all_uses(number(IntegerType(32), 1))
    copied.variables["tile"].replace_all_uses(copied.variables["tile.1"])
    assert module_text(module) == before
    assert all(user.block is not None for user in users(called(function, "next")))
    assert len(called(function, "next").uses) == 3
    check_function(function)
    check_function(new)


def test_graphs_are_stored_not_pickled() -> None:
    module, function = parsed()
    called(function, "start").origin = Origin(name=DisplayName("start"), role=Role.GUARD, replica=3)
    with pytest.raises(TypeError, match="stored"):
        pickle.dumps(module)
    with pytest.raises(TypeError, match="copy_module"):
        copy.deepcopy(module)
    again = restored(*pickle.loads(pickle.dumps(stored(module))))
    assert module_text(again) == module_text(module)
    kept = Origin(name=DisplayName("start"), role=Role.GUARD, replica=3)
    assert called(again.function("k"), "start").origin == kept


def test_a_long_chain_is_copied_and_stored() -> None:
    lines = "\n".join(f"  %v{n + 1} = add i32 %v{n}, 1" for n in range(20_000))
    module = parse_module(f"define void @k(i32 %v0) {{\nentry:\n{lines}\n  ret void\n}}\n")
    copied, _ = copy_module(module)
    again = restored(*pickle.loads(pickle.dumps(stored(copied))))
    assert sum(1 for _ in again.function("k").instructions()) == 20_001


def test_constants_are_the_same_where_they_say_the_same() -> None:
    first = parsed()[1].blocks[1].instructions[2].operands[0]
    assert Constant(PointerType(1), "null") == Constant(PointerType(1), "null")
    assert Constant(IntegerType(8), "0") != Constant(IntegerType(16), "0")
    assert not isinstance(first, Constant)


@pytest.mark.parametrize(
    "constant",
    [
        "float 0x7FF8000000000001",
        "float -0.000000e+00",
        "float 0x36A0000000000000",
        "half 0xH8000",
        "bfloat 0xR7FC1",
        "double 1.000000e-01",
        "<2 x half> <half 0xH3C00, half poison>",
        "<4 x float> splat (float -1.000000e+00)",
        '[2 x i8] c"\\5C\\00"',
        "{ i32, float } { i32 -1, float 0xFFF0000000000000 }",
    ],
)
def test_constants_keep_llvms_spelling(constant: str) -> None:
    text = f"define void @k(ptr %p) {{\nentry:\n  store {constant}, ptr %p, align 4\n  ret void\n}}\n"
    function = parse_module(text).function("k")
    assert list(function_lines(function))[2] == f"  store {constant}, ptr %p, align 4"


@pytest.mark.parametrize(
    "line",
    [
        "%v = invoke i32 @f() to label %entry unwind label %entry",
        "%v = va_arg ptr %p, i32",
        "switch i32 0, label %entry [",
        "%v = add i32 %p, 1 !",
    ],
)
def test_unknown_instructions_are_refused(line: str) -> None:
    with pytest.raises(RefusalError, match="not supported"):
        parse_module(f"define void @k(ptr %p) {{\nentry:\n  {line}\n  ret void\n}}\n")
