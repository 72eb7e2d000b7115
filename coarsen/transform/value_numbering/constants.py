"""Integers and conditions that are constants."""

from __future__ import annotations

from coarsen.ir.graph.operands import Constant, Operand
from coarsen.ir.types import IntegerType

TRUE, FALSE = Constant(IntegerType(1), "true"), Constant(IntegerType(1), "false")


def number_of(operand: Operand) -> int | None:
    """Return the integer that an operand is; None for conditions and for what is known at run time only."""
    if not isinstance(operand, Constant) or not isinstance(operand.type, IntegerType):
        return None
    text = operand.text
    return int(text) if text.removeprefix("-").isdecimal() else None
