"""Assigns to several variables at once, as the phis of a block mean it, one after the other.

    (a, b) = (b, a)   →   previous = b; b = a; a = previous;

An assignment waits until no other one still reads its variable; where all wait for each other, one value is kept
in a variable of its own first (the "swap problem" of leaving SSA).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from coarsen.backend.opencl_c.c.statements import Assign
from coarsen.backend.opencl_c.c.tree import Expression, Name


@dataclass(frozen=True, slots=True)
class Copy:
    """One of the assignments: the C variable, its value and the C variables that the value reads."""

    variable: str
    value: Expression
    reads: frozenset[str]


def in_order(copies: Sequence[Copy], keep: Callable[[Copy], Name]) -> list[Assign]:
    """Return the assignments in an order that gives each the old values; `keep` makes a variable like a copy's."""
    pending = {copy.variable: copy for copy in copies}
    readers: dict[str, set[str]] = {}
    for copy in copies:
        for name in copy.reads:
            if name in pending and name != copy.variable:
                readers.setdefault(name, set()).add(copy.variable)
    ready = [copy.variable for copy in reversed(copies) if not readers.get(copy.variable)]
    result: list[Assign] = []
    while pending:
        if ready:
            copy = pending.pop(ready.pop())
            result.append(Assign(copy.variable, copy.value))
        else:
            copy = next(iter(pending.values()))
            kept = keep(copy)
            result.append(Assign(kept.text, copy.value))
            pending[copy.variable] = Copy(copy.variable, kept, frozenset())
        for name in sorted(copy.reads):  # a set's own order is another in each process
            waiting = readers.get(name, set())
            waiting.discard(copy.variable)
            if name in pending and name != copy.variable and not waiting and name not in ready:
                ready.append(name)
    return result
