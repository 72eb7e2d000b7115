"""What is written of an instruction: offered by those of the graph and by the view of them (`ir/kernel.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from coarsen.ir.graph.details import Detail
from coarsen.ir.types import Type


class WrittenOperand(Protocol):
    """An operand."""

    @property
    def type(self) -> Type:
        """The type of the value."""
        ...

    @property
    def spelling(self) -> str:
        """The operand as it stands in LLVM's text, without its type."""
        ...


class Written(Protocol):
    """An instruction."""

    @property
    def name(self) -> str:
        """The result's name."""
        ...

    @property
    def opcode(self) -> str:
        """LLVM's word for it."""
        ...

    @property
    def type(self) -> Type:
        """The type of the result."""
        ...

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags, in LLVM's order."""
        ...

    @property
    def detail(self) -> Detail:
        """Whatever else it says, by its family."""
        ...

    @property
    def attachments(self) -> tuple[tuple[str, str], ...]:
        """Its metadata: kinds and nodes."""
        ...

    @property
    def operands(self) -> Sequence[WrittenOperand]:
        """The values it computes with; a call's callee is the last."""
        ...

    @property
    def arguments(self) -> Sequence[WrittenOperand]:
        """The operands that carry data."""
        ...

    @property
    def incoming(self) -> tuple[str, ...]:
        """The names of a phi's sources."""
        ...

    @property
    def targets(self) -> tuple[str, ...]:
        """The names of a terminator's targets."""
        ...
