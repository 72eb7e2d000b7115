"""Functions made by the builder: LLVM takes them, and names become unique where they stand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coarsen.errors import InternalError
from coarsen.ir.graph.builder import Builder, number
from coarsen.ir.graph.details import BINARY, Opcode
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Block
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.module_parser import parse_module
from coarsen.ir.graph.names import make_names_unique
from coarsen.ir.graph.operands import Argument, Callee, Operand
from coarsen.ir.graph.origin import Origin, Role
from coarsen.ir.graph.printer import function_lines, module_text
from coarsen.ir.modules import assembly_module
from coarsen.ir.types import FloatType, IntegerType, PointerType, VectorType
from tests.ir.graph.check import check_function

I32, FLOAT = IntegerType(32), FloatType("float")
INTEGER_OPCODES = sorted(opcode for opcode in BINARY if not opcode.startswith("f"))


def empty_kernel(*arguments: Argument) -> tuple[Module, Function, Builder]:
    """A module with one kernel, and a builder at the end of its entry."""
    function = Function("k", "define spir_kernel void")
    function.arguments.extend(arguments)
    module = Module(callees={"k": Callee("k")}, functions={"k": function})
    return module, function, Builder(function.append(Block("entry")), Origin(role=Role.ID))


def printed(module: Module) -> str:
    """The module's text, after LLVM has verified it and the graph has been checked."""
    for function in module.functions.values():
        make_names_unique(function)
        check_function(function)
    text = module_text(module)
    with assembly_module(text):
        return text


def test_every_kind_of_instruction_is_valid() -> None:
    pointer = Argument(PointerType(1), "out", "noundef")
    module, function, build = empty_kernel(pointer, Argument(I32, "n"), Argument(FLOAT, "x"))
    _, n, x = function.arguments
    query = module.callee("_Z13get_global_idj", "declare spir_func i64 @_Z13get_global_idj(i32)")
    loop, left = function.append(Block("loop")), function.append(Block("left"))
    kept = build.allocate(I32, "kept")
    item = build.call(query, IntegerType(64), [number(I32, 0)], "item", "nounwind")
    narrow = build.cast(Opcode.TRUNC, item, I32, "narrow")
    build.store(narrow, kept)
    build.branch(loop)
    build.at_end(loop)
    counter = build.phi(I32, [(number(I32, 0), function.entry)], "counter")
    following = build.binary(Opcode.ADD, counter, number(I32, 1), "following", ("nuw", "nsw"))
    counter.add_incoming(following, loop)
    is_less = build.compare("ult", following, n, "is.less")
    build.branch_if(is_less, loop, left)
    build.at_end(left)
    is_negative = build.compare("olt", x, x, "is.negative")
    chosen = build.select(is_negative, build.load(I32, kept, "loaded"), following, "chosen")
    place = build.element(I32, pointer, [chosen], "place")
    vector = build.insert_element(number_vector(), narrow, number(I32, 1), "vector")
    mixed = build.shuffle(vector, vector, [3, None, 0], "mixed")
    build.store(build.extract_element(mixed, number(I32, 2), "last"), place)
    build.return_nothing()
    text = printed(module)
    assert "%counter = phi i32 [ 0, %entry ], [ %following, %loop ]" in text
    assert (
        "%mixed = shufflevector <2 x i32> %vector, <2 x i32> %vector, <3 x i32> <i32 3, i32 poison, i32 0>" in text
    )
    assert {i.origin.role for i in function.instructions()} == {Role.ID}
    assert loop.predecessors == [function.entry, loop]


def number_vector() -> Operand:
    """A vector of two numbers."""
    return parse_constant("<2 x i32> <i32 7, i32 8>")


def parse_constant(text: str) -> Operand:
    """A constant, as a value that is stored."""
    module = parse_module(f"define void @f(ptr %p) {{\nentry:\n  store {text}, ptr %p\n  ret void\n}}\n")
    return module.function("f").entry.instructions[0].operands[0]


def test_names_are_made_unique_in_the_order_of_the_function() -> None:
    n = Argument(I32, "n")
    module, function, build = empty_kernel(n)
    n.has_unique_name = True
    kept = build.binary(Opcode.ADD, n, n, "sum")
    build.at_start(function.entry)
    for _ in range(2):
        build.binary(Opcode.ADD, n, n, "sum")
    build.at_end(function.entry).return_nothing()
    kept.has_unique_name = True
    printed(module)
    assert [i.name for i in function.entry.instructions] == ["sum.1", "sum.2", "sum", ""]


def test_making_gives_a_role_and_takes_it_back() -> None:
    n = Argument(I32, "n")
    _, _, build = empty_kernel(n)
    with build.making(Role.SLOW_PATH, replica=2):
        inside = build.binary(Opcode.ADD, n, n, "inside")
    after = build.binary(Opcode.ADD, n, n, "after")
    assert (inside.origin.role, inside.origin.replica) == (Role.SLOW_PATH, 2)
    assert (after.origin.role, after.origin.replica) == (Role.ID, None)


@pytest.mark.parametrize(
    ("width", "value", "text"), [(8, 255, "-1"), (8, -128, "-128"), (1, 3, "true"), (1, 2, "false")]
)
def test_a_number_wraps_around_as_its_type_demands(width: int, value: int, text: str) -> None:
    assert number(IntegerType(width), value).text == text


def test_a_new_callee_stands_before_the_functions_with_bodies() -> None:
    module, _, build = empty_kernel()
    build.return_nothing()
    module.callee("f", "declare void @f()")
    assert list(module.callees) == ["f", "k"]
    assert module.callee("f", "declare i32 @f()").declaration == "declare void @f()"
    printed(module)


def test_a_sealed_function_refuses_every_change() -> None:
    n = Argument(I32, "n")
    _, function, build = empty_kernel(n)
    added = build.binary(Opcode.ADD, n, n, "added")
    build.return_nothing()
    function.seal()
    with pytest.raises(InternalError, match="sealed"):
        added.set_operand(0, number(I32, 1))
    with pytest.raises(InternalError, match="sealed"):
        n.replace_all_uses(number(I32, 1))
    with pytest.raises(InternalError, match="sealed"):
        function.entry.erase(added)
    with pytest.raises(InternalError, match="sealed"):
        function.append(Block("more"))
    with pytest.raises(InternalError, match="sealed"):
        build.return_nothing()


@settings(max_examples=40)
@given(st.lists(st.integers(0, 10_000), max_size=12))
def test_straight_lines_come_back_as_they_were_built(steps: list[int]) -> None:
    module, function, build = empty_kernel(Argument(I32, "a"), Argument(I32, "b"))
    known: list[Operand] = [*function.arguments, number(I32, 5)]
    for step in steps:
        opcode = INTEGER_OPCODES[step % len(INTEGER_OPCODES)]
        left, right = known[step // 13 % len(known)], known[step // 200 % len(known)]
        known.append(build.binary(opcode, left, right, "v"))
    build.return_nothing()
    text = printed(module)
    assert list(function_lines(parse_module(text).function("k"))) == list(function_lines(function))
    uses = sum(len(i.uses) for i in (*function.arguments, *function.instructions()))
    constants = sum(not o.is_local for i in function.instructions() for o in i.operands)
    assert uses + constants == 2 * len(steps)


def test_types_of_vectors_reach_comparisons() -> None:
    type_ = VectorType(4, FLOAT)
    _, function, build = empty_kernel(Argument(type_, "v"))
    compared = build.compare("ogt", function.arguments[0], function.arguments[0], "c")
    assert (compared.opcode, str(compared.type)) == (Opcode.FCMP, "<4 x i1>")
