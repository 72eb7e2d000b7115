"""The reading interface of instructions: what a kernel's (`kernel.py`) and the graph's (`graph/`) both offer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from coarsen.ir.graph.details import Detail
from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.types import Type


class OperandLike(Protocol):
    """An operand."""

    @property
    def kind(self) -> ValueKind:
        """As what it is classified."""
        ...

    @property
    def type(self) -> Type:
        """The type of the value."""
        ...


P = TypeVar("P", bound=OperandLike)
P_co = TypeVar("P_co", bound=OperandLike, covariant=True)


class InstructionLike(Protocol[P_co]):
    """An instruction with operands of one kind."""

    @property
    def opcode(self) -> str:
        """LLVM's word for it."""
        ...

    @property
    def type(self) -> Type:
        """The type of the result."""
        ...

    @property
    def detail(self) -> Detail:
        """Whatever else it says, by its family."""
        ...

    @property
    def operands(self) -> Sequence[P_co]:
        """The values it computes with; a call's callee is the last."""
        ...

    @property
    def arguments(self) -> Sequence[P_co]:
        """The operands that carry data."""
        ...

    @property
    def callee(self) -> str:
        """The called function's name; empty for any other instruction and for an indirect call."""
        ...

    @property
    def is_volatile(self) -> bool:
        """Return True if it is a load, a store, an atomic or a copy of memory that is volatile."""
        ...

    @property
    def is_atomic(self) -> bool:
        """Return True if it is an atomic access of LLVM's own."""
        ...
