"""The blocks and edges of the C text, as the terminators of the kernel's blocks become them."""

from __future__ import annotations

from dataclasses import dataclass

from coarsen.backend.opencl_c.c.statements import Assign, Statement
from coarsen.backend.opencl_c.c.tree import Expression


@dataclass(frozen=True, slots=True)
class Arm:
    """An edge: where it leads and what it assigns on the way."""

    target: str
    copies: tuple[Assign, ...] = ()


@dataclass(slots=True)
class Node:
    """A block of the C text: statements, then a return (no arms), a jump (one) or a branch (two).

    `unroll_hint` is the attribute of the loop that it is the header of.
    """

    name: str
    statements: list[Statement]
    arms: tuple[Arm, ...]
    condition: Expression | None = None
    unroll_hint: str = ""

    @property
    def is_empty_return(self) -> bool:
        """Return True if it does nothing but end the kernel."""
        return not self.arms and not self.statements
