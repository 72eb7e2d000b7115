"""Where the arrays of a launch are best kept, and why (sections 5.2 and 5.4 of the paper)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from coarsen.loops.algorithm1 import Transformation, fixed_iterators
from coarsen.loops.nest import Access, Nest, Statement
from coarsen.loops.reuse import Reuse, reuse_of
from coarsen.loops.schedules import Piece

Memory = Literal["direct", "local", "constant", "register"]


@dataclass(frozen=True)
class Placement:
    """Where a statement's accesses of an array go, and the reason as a clause."""

    statement: str
    array: str
    memory: Memory
    reason: str


def placements(nest: Nest, piece: Piece, found: Transformation) -> Iterator[Placement]:
    """Yield where each array of a launch is best kept.

    Args:
        nest: the loops.
        piece: the launch.
        found: what Algorithm 1 says of it.
    """
    written = {access.array for each in nest.statements for access in each.writes}
    for name in piece.statements:
        statement = nest.statement(name)
        fixed = fixed_iterators(piece, statement)
        for array in dict.fromkeys(access.array for access in statement.accesses if access.subscripts):
            own = [access for access in statement.accesses if access.array == array]
            spread = _spread(statement, found)
            memory, reason = _choice(nest, statement, own, found, spread, fixed, is_read_only=array not in written)
            yield Placement(name, array, memory, reason)


def _spread(statement: Statement, found: Transformation) -> frozenset[str]:
    """The iterators by which work-items differ."""
    rows = found.places.get(statement.name, ())
    return frozenset(name for row in rows for name, number in zip(statement.iterators, row, strict=True) if number)


def _choice(
    nest: Nest,
    statement: Statement,
    own: list[Access],
    found: Transformation,
    spread: frozenset[str],
    fixed: tuple[str, ...],
    *,
    is_read_only: bool,
) -> tuple[Memory, str]:
    if nest.arrays[own[0].array].is_scalar:
        return "register", "each work-item has its own"
    used = {name for access in own for form in access.subscripts for name in form.symbols} & {*statement.iterators}
    inner = [name for name in statement.iterators if name not in spread and name not in fixed]
    reuses: list[Reuse] = [reuse_of(access, statement, fixed) for access in own]
    if not all(each.is_higher_order for each in reuses):
        if any(each.statement == statement.name and each.access in own for each in found.copied):
            return (
                "local",
                "no legal order lets neighbouring work-items reach neighbouring elements at the same time",
            )
        neighbours = max(each.neighbours for each in reuses)
        border = (
            f"; {neighbours} accesses differ by numbers: a copy with its border may pay" if neighbours > 1 else ""
        )
        return "direct", f"neighbouring work-items reach neighbouring elements{border}"
    if is_read_only and not used & spread:
        return "constant", "it is only read, at the same place by all work-items at a time"
    if inner and not used & {*inner}:
        return "register", f"a work-item has its own element, the same along {', '.join(inner)}"
    along = sorted({name for each in reuses for name in each.redundant if name not in fixed})
    return "local", f"elements are used again{f' along {chr(32).join(along)}' if along else ''}"
