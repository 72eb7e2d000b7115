"""Comparisons of integers and addresses as relations of whole numbers, as what predicts takes them."""

from __future__ import annotations

from coarsen.ir.details import predicate
from coarsen.ir.kernel import Instruction

_OPPOSITE = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}


def relation_of(comparison: Instruction, *, holds: bool = True) -> str:
    """Return the relation of an `icmp`'s operands: lt, le, gt, ge, eq or ne, whether with signs or without.

    Args:
        comparison: the `icmp`.
        holds: False for the relation that they have where it is false.
    """
    relation = predicate(comparison).lstrip("us")
    return relation if holds else _OPPOSITE[relation]
