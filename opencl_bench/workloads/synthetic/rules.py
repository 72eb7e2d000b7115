"""Values of the axes that don't go together, and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from coarsen.opencl_bench.workloads.synthetic.axes import (
    DIVERGENT_LOOPS,
    ELEMENT_LOOPS,
    LEVELS,
    REDUCTIONS,
    TRIP_LOOPS,
    UNIFORM_LOOPS,
    WHOLE_NUMBERS,
    Access,
    Arithmetic,
    Axes,
    Element,
    Guard,
    LocalMemory,
    Loop,
    Reuse,
    Store,
)


@dataclass(frozen=True, slots=True)
class Rule:
    """A combination that is never drawn: `axes` are the ones that it is about."""

    reason: str
    axes: tuple[str, ...]
    forbids: Callable[[Axes], bool]


RULES = (
    Rule(
        "a row of one element is a coalesced access",
        ("access", "loop"),
        lambda a: a.access is Access.ROW_PER_ITEM and a.loop not in TRIP_LOOPS,
    ),
    Rule(
        "a work-group's own row has no element that all of its items share",
        ("access", "loop"),
        lambda a: a.access is Access.BROADCAST and a.loop is Loop.LOCAL_STRIDE,
    ),
    Rule(
        "blocks go around within a single line of items",
        ("access", "local_size"),
        lambda a: a.access is Access.BLOCK_CYCLIC and a.dimensions > 1,
    ),
    Rule(
        "blocks go around by trips, or by pairs",
        ("access", "loop"),
        lambda a: a.access is Access.BLOCK_CYCLIC and a.loop in ELEMENT_LOOPS,
    ),
    Rule(
        "a loop over elements strides along a single dimension",
        ("loop", "local_size"),
        lambda a: a.loop in ELEMENT_LOOPS and a.dimensions > 1,
    ),
    Rule(
        "not all items would reach the barriers of a tile in such a loop",
        ("local_memory", "loop"),
        lambda a: a.local_memory is LocalMemory.TILE and a.loop in DIVERGENT_LOOPS | ELEMENT_LOOPS,
    ),
    Rule(
        "one element of the grid-stride loop is stored per trip, which leaves nothing to combine",
        ("local_memory", "loop"),
        lambda a: a.local_memory in LEVELS and a.loop is Loop.GRID_STRIDE,
    ),
    Rule(
        "records hold scalars",
        ("access", "element"),
        lambda a: a.access is Access.RECORDS and a.element not in (Element.FLOAT, Element.INT),
    ),
    Rule(
        "sums of bytes would be saturated",
        ("local_memory", "element"),
        lambda a: a.local_memory in LEVELS and a.element is Element.UCHAR4,
    ),
    Rule(
        "whole numbers go with integer operations",
        ("element", "arithmetic"),
        lambda a: (a.element in WHOLE_NUMBERS) != (a.arithmetic is Arithmetic.INTEGER),
    ),
    Rule(
        "without operations there is one kind of arithmetic",
        ("arithmetic", "operations"),
        lambda a: a.operations == 0 and a.arithmetic not in (Arithmetic.INTEGER, Arithmetic.MULTIPLY_ADD),
    ),
    Rule(
        "a reduction has one result per work-group, and nothing else has",
        ("local_memory", "store"),
        lambda a: (a.local_memory in REDUCTIONS) != (a.store is Store.PER_GROUP),
    ),
    Rule(
        "after the loop over a work-group's row an item has one result of its own",
        ("loop", "store"),
        lambda a: a.loop is Loop.LOCAL_STRIDE and a.store not in (Store.COALESCED, Store.PER_GROUP),
    ),
    Rule(
        "a tile that is read transposed is square",
        ("access", "local_memory", "local_size"),
        lambda a: (
            a.access is Access.TRANSPOSED
            and a.local_memory is LocalMemory.TILE
            and a.dimensions == 2
            and a.local_size[0] != a.local_size[1]
        ),
    ),
    Rule(
        "an item that returned would miss the barriers",
        ("local_memory", "guard"),
        lambda a: a.local_memory not in (LocalMemory.NONE, LocalMemory.TABLE) and a.guard is Guard.EARLY_RETURN,
    ),
    Rule(
        "whole work-groups stage a tile",
        ("local_memory", "guard"),
        lambda a: a.local_memory is LocalMemory.TILE and a.guard is Guard.SIZE,
    ),
    Rule(
        "the loop over elements is the guard of the size",
        ("loop", "guard"),
        lambda a: a.loop in ELEMENT_LOOPS and a.guard in (Guard.SIZE, Guard.EARLY_RETURN),
    ),
    Rule(
        "a single dimension has no second",
        ("local_size", "reuse"),
        lambda a: a.dimensions == 1 and a.reuse is Reuse.ALONG_1,
    ),
    Rule(
        "what is the same everywhere changes by the trip",
        ("loop", "reuse"),
        lambda a: a.reuse is Reuse.EVERYWHERE and a.loop in (Loop.NONE, Loop.GRID_STRIDE),
    ),
    Rule(
        "a table is the second operand itself",
        ("local_memory", "reuse"),
        lambda a: a.local_memory is LocalMemory.TABLE and a.reuse is not Reuse.NONE,
    ),
    Rule(
        "a tile that everyone reads is a whole loop in each trip: more work would leave too few work-groups",
        ("access", "local_memory", "operations"),
        lambda a: a.access is Access.BROADCAST and a.local_memory is LocalMemory.TILE and a.operations > 24,
    ),
    Rule(
        "a tile that everyone reads is one for a line of items",
        ("access", "local_memory", "loop", "local_size"),
        lambda a: (
            a.access is Access.BROADCAST
            and a.local_memory is LocalMemory.TILE
            and (a.loop not in UNIFORM_LOOPS or a.dimensions > 1)
        ),
    ),
    Rule(
        "a staged neighbourhood is staged once",
        ("access", "local_memory", "loop"),
        lambda a: a.access is Access.STENCIL and a.local_memory is LocalMemory.TILE and a.loop is not Loop.NONE,
    ),
    Rule(
        "blocks that a tile would permute are permuted already",
        ("access", "local_memory"),
        lambda a: a.access is Access.BLOCK_CYCLIC and a.local_memory is LocalMemory.TILE,
    ),
)


def violations(axes: Axes) -> list[Rule]:
    """The rules that forbid a combination; none if it can be drawn."""
    return [rule for rule in RULES if rule.forbids(axes)]
