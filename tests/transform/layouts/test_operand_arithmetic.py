"""Arithmetic on operands: what is constant is computed at once, the rest becomes instructions of one width."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from coarsen.ir.graph.builder import Builder, number
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.display_name import NewName
from coarsen.ir.graph.instruction import Block
from coarsen.ir.graph.operands import Argument, Operand
from coarsen.ir.graph.origin import UNKNOWN
from coarsen.ir.types import IntegerType
from coarsen.transform.layouts.indices import OperandArithmetic
from coarsen.transform.names import own
from coarsen.transform.prologue import INDEX

_Computed = Callable[[OperandArithmetic, Operand], Operand]


def arithmetic(block: Block, width: int = 64) -> OperandArithmetic:
    """Return the arithmetic at the end of a block."""
    return OperandArithmetic(Builder(block, UNKNOWN), IntegerType(width), NewName)


@pytest.mark.parametrize(
    ("computed", "expected"),
    [
        (lambda by, seven: by.plus(seven, by.number(5)), 12),
        (lambda by, seven: by.times(seven, 3), 21),
        (lambda by, seven: by.remainder(by.times(seven, 3), 16), 5),
        (lambda by, seven: by.divided(by.times(seven, 3), 16), 1),
        (lambda by, seven: by.computed(Opcode.AND, seven, by.number(5)), 5),
        (lambda by, seven: by.exclusive_or(seven, by.number(2)), 5),
        (lambda by, _: by.divided(by.number(-1), 16), 15),
        (lambda by, _: by.remainder(by.number(-1), 10), 5),
        (lambda by, _: by.computed(Opcode.AND, by.number(-1), by.number(15)), 15),
        (lambda by, _: by.exclusive_or(by.number(-1), by.number(127)), -128),
        (lambda by, seven: by.sum_of([(seven, 24), (seven, 8)], 8, 2), 30),
        (lambda by, _: by.product([]), 1),
    ],
)
def test_constants_are_computed_in_the_width(computed: _Computed, expected: int) -> None:
    block, eight_bits = Block("entry"), IntegerType(8)
    by = arithmetic(block, 8)
    assert computed(by, number(eight_bits, 7)) == number(eight_bits, expected)
    assert not block.instructions


@pytest.mark.parametrize(
    "computed",
    [
        lambda by, value: by.plus(value, by.number(0)),
        lambda by, value: by.plus(by.number(0), value),
        lambda by, value: by.times(value, 1),
        lambda by, value: by.divided(value, 1),
        lambda by, value: by.exclusive_or(value, by.number(0)),
        lambda by, value: by.exclusive_or(by.number(0), value),
        lambda by, value: by.sum_of([(value, 24)], 24, 0),
        lambda by, value: by.wide(value),
    ],
)
def test_what_changes_nothing_is_the_value(computed: _Computed) -> None:
    block = Block("entry")
    value = Argument(INDEX, "i")
    assert computed(arithmetic(block), value) is value
    assert not block.instructions


def test_a_sum_of_indices_extends_them_with_their_sign() -> None:
    block = Block("entry")
    arithmetic(block).sum_of([(Argument(IntegerType(32), "row"), 64), (Argument(INDEX, "column"), 4)], 4, 3)
    assert [str(each.opcode) for each in block.instructions] == ["sext", "mul", "add", "add"]


def test_names_are_as_asked_for() -> None:
    block = Block("entry")
    value = Argument(INDEX, "i")
    arithmetic(block).times(value, 3)
    OperandArithmetic(Builder(block, UNKNOWN)).times(value, 3)
    nameless, named = block.instructions
    assert (nameless.origin.name, named.origin.name) == (NewName("position").display, own("position").display)
