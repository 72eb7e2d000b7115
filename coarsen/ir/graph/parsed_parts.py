"""What a line says of an instruction, collected from left to right."""

from __future__ import annotations

from dataclasses import dataclass, field

from coarsen.ir.graph.details import Detail
from coarsen.ir.graph.instruction import Block
from coarsen.ir.graph.operands import Operand
from coarsen.ir.graph.scanner import Scanner
from coarsen.ir.graph.value_parser import ValueParser
from coarsen.ir.types import Type, VoidType

FAST_MATH = frozenset({"fast", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc"})
FLAGS = FAST_MATH | {"nsw", "nuw", "exact", "inbounds", "disjoint", "nneg", "samesign", "nusw"}
_VOID = VoidType()


@dataclass
class Parts:
    """The parts of an instruction, its name and attachments apart."""

    type: Type = _VOID
    operands: list[Operand] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    flags: tuple[str, ...] = ()
    detail: Detail = None


def typed_operands(line: Scanner, values: ValueParser) -> list[Operand]:
    """Read operands, each after its type."""
    operands = [values.typed(line)]
    while line.take(","):
        operands.append(values.typed(line))
    return operands
