"""Twice as many instructions are looked at twice as often, whatever their shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from coarsen.analysis.control_flow import FlowGraph
from coarsen.ir.graph.builder import number
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.operands import Operand
from tests.transform.value_numbering.straight_line import NARROW, StraightLine


def chain(line: StraightLine, count: int) -> None:
    """Sums of sums, each compared: of longer ones nothing is known."""
    value: Operand = line.argument("a")
    for _ in range(count):
        value = line.build.binary(Opcode.ADD, value, line.argument("b"), "sum")
        line.build.compare("eq", value, number(NARROW, 1), "is")


def equal_sums(line: StraightLine, count: int) -> None:
    """One sum and its multiples, in turns."""
    for index in range(count):
        product = line.build.binary(Opcode.MUL, line.argument("a"), number(NARROW, index % 3), "product")
        line.build.binary(Opcode.ADD, product, line.argument("b"), "index")


def loads_and_stores(line: StraightLine, count: int) -> None:
    """Loads of one place, with stores between them, at addresses that are surely defined."""
    for index in range(count):
        place = line.build.element(NARROW, line.argument("p"), [number(NARROW, index)], "place")
        line.build.store(line.build.load(NARROW, line.argument("p"), "loaded"), place)


def arms(line: StraightLine, count: int) -> None:
    """The same in many blocks, of which none is executed before another for sure."""
    condition = line.build.compare("slt", line.argument("a"), line.argument("b"), "less")
    for _ in range(count // 4):
        arm, after = line.function.append(Block("arm")), line.function.append(Block("after"))
        line.build.branch_if(condition, arm, after)
        line.build.at_end(arm)
        place = line.build.element(NARROW, line.argument("p"), [line.argument("a")], "place")
        line.build.store(line.build.binary(Opcode.ADD, line.argument("a"), line.argument("c"), "sum"), place)
        line.build.branch(after)
        line.build.at_end(after)


def looks(monkeypatch: pytest.MonkeyPatch, shape: Callable[[StraightLine, int], None], count: int) -> int:
    """Count how often value numbering asks an instruction for its operands, or whether a value may be used."""
    line = StraightLine()
    shape(line, count)
    asked = 0

    def operands(instruction: Instruction) -> Sequence[Operand]:
        nonlocal asked
        asked += 1
        return instruction._operands

    def may_use(flow: FlowGraph, block: str, defining: str) -> bool:
        nonlocal asked
        asked += 1
        return plain(flow, block, defining)

    plain = FlowGraph.may_use
    with monkeypatch.context() as patched:
        patched.setattr(Instruction, "operands", property(operands))
        patched.setattr(FlowGraph, "may_use", may_use)
        line.number_values()
    return asked


@pytest.mark.parametrize("shape", [chain, equal_sums, loads_and_stores, arms])
def test_looks_grow_with_the_number_of_instructions(
    monkeypatch: pytest.MonkeyPatch, shape: Callable[[StraightLine, int], None]
) -> None:
    once, twice = (looks(monkeypatch, shape, count) for count in (100, 200))
    assert once > 100
    assert twice <= 2.1 * once
