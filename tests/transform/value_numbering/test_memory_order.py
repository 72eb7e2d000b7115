"""Value numbering takes every builtin that writes for one that changes memory."""

from __future__ import annotations

import pytest

from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.ir.graph.builder import number
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Callee, Operand
from coarsen.ir.opencl import builtins
from coarsen.ir.opencl.builtins import Reach, Role
from coarsen.ir.types import IntegerType
from tests.transform.value_numbering.straight_line import NARROW, StraightLine

# One of each pattern of the table.
_OF_PATTERNS = (
    *("vload4", "vstore4", "write_imagef", "atomic_init", "atomic_load", "atomic_store", "atomic_add"),
    *("atomic_fetch_or_explicit", "atomic_exchange", "llvm.memcpy.p0.p0.i64", "llvm.memset.p0.i64"),
)


def touching(*, writes: bool) -> list[str]:
    """Functions of the table that write memory, or only read it, by a name that they are called by."""
    known = {name: builtins.builtin_named(name) for name in (*builtins._NAMED, *_OF_PATTERNS)}
    if writes:
        return [name for name, builtin in known.items() if builtin.writes is not Reach.NOTHING]
    return [name for name, builtin in known.items() if builtin.reads is not Reach.NOTHING is builtin.writes]


def call(line: StraightLine, name: str, arguments: list[Operand]) -> Instruction:
    mangled = name if name.startswith("llvm.") else f"_Z{len(name)}{name}fPU3AS1f"
    return line.build.call(Callee(mangled), NARROW, arguments, "r")


def loads_left(name: str, *given: str) -> int:
    """Return the number of loads of one place that are left of two with a call between them."""
    line = StraightLine()
    place = line.argument("p")
    results = [line.build.load(NARROW, place, "first")]
    call(line, name, [line.argument(each) for each in given])
    results.append(line.build.load(NARROW, place, "second"))
    line.build.store(line.build.binary(Opcode.ADD, results[0], results[1], "sum"), place)
    line.number_values()
    return sum(each.opcode is Opcode.LOAD for each in line.block.instructions)


@pytest.mark.parametrize("given", ["ap", "a"], ids=["through a pointer", "pointers not to be seen"])
@pytest.mark.parametrize("name", touching(writes=True))
def test_loads_are_not_merged_across_a_builtin_that_writes(name: str, given: str) -> None:
    assert loads_left(name, *given) == 2


def test_loads_are_merged_across_one_that_does_not() -> None:
    assert loads_left("sqrt", "a") == 2  # without a declaration it may do anything
    assert loads_left("get_global_id", "a") == 1


@pytest.mark.parametrize("given", ["ap", "a"])
@pytest.mark.parametrize("name", touching(writes=False) + touching(writes=True))
def test_what_touches_memory_is_no_function_of_its_operands(name: str, given: str) -> None:
    """Even where its declaration says so, and no operand is a pointer."""
    line = StraightLine()
    made = call(line, name, [line.argument(each) for each in given])
    effects = EffectsOfKernel({made.callee: "memory(none)"})
    assert not effects.is_function_of_operands(made)


def test_every_pattern_that_touches_memory_has_its_name() -> None:
    touching = [pattern for pattern, builtin in builtins._BY_PATTERN if builtin.role is not Role.IGNORED]
    assert [pattern for pattern in touching if not any(map(pattern.fullmatch, _OF_PATTERNS))] == []


def test_a_volatile_copy_is_known_on_the_graph() -> None:
    """The last argument says so; `.text` of the graph's instruction is its name."""
    line = StraightLine()
    copy = Callee("llvm.memcpy.p1.p1.i64")
    arguments: list[Operand] = [line.argument("p"), line.argument("p"), line.argument("n")]
    copies = [line.build.call(copy, NARROW, [*arguments, number(IntegerType(1), is_it)]) for is_it in (0, 1)]
    assert [each.is_volatile for each in copies] == [False, True]
