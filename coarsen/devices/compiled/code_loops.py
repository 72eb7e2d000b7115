"""Natural loops of machine code: how many are around each instruction.

A jump backwards need not be one of a loop: compilers move code that seldom runs to the end of a function, from
where it jumps back. A loop has a first block that all ways into it go through.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Step:
    """An instruction.

    Args:
        address: in the function.
        target: the address that it may jump to; None where it does not jump, or where to isn't known.
        goes_on: whether the next instruction may follow it.
    """

    address: int
    target: int | None = None
    goes_on: bool = True


def loop_depths(steps: Sequence[Step]) -> list[int]:
    """Return the number of loops around each instruction.

    Args:
        steps: all instructions of a function, by their addresses.
    """
    addresses = [step.address for step in steps]
    places = {step.target: bisect.bisect_left(addresses, step.target) for step in steps if step.target is not None}
    inside = {
        target: place for target, place in places.items() if place < len(steps) and addresses[place] == target
    }
    starts = sorted({0, *inside.values(), *_after_jumps(steps)})
    depths = _depths_of_blocks(_successors(steps, starts, inside))
    return [depths[bisect.bisect_right(starts, place) - 1] for place in range(len(steps))]


def _after_jumps(steps: Sequence[Step]) -> list[int]:
    ends = [place for place, step in enumerate(steps[:-1]) if step.target is not None or not step.goes_on]
    return [place + 1 for place in ends]


def _successors(steps: Sequence[Step], starts: Sequence[int], inside: dict[int, int]) -> list[list[int]]:
    """The blocks that may follow each block."""
    following = []
    for number, end in enumerate([*starts[1:], len(steps)]):
        last = steps[end - 1]
        next_ones = [number + 1] if last.goes_on and end < len(steps) else []
        if last.target in inside:
            next_ones.append(bisect.bisect_left(starts, inside[last.target]))
        following.append(next_ones)
    return following


def _depths_of_blocks(successors: Sequence[Sequence[int]]) -> list[int]:
    # Imported late: only where machine code is read.
    import networkx

    graph = networkx.DiGraph()
    graph.add_nodes_from(range(len(successors)))
    graph.add_edges_from((block, after) for block, found in enumerate(successors) for after in found)
    dominators = networkx.immediate_dominators(graph, 0)
    bodies: dict[int, set[int]] = {}
    for block, header in graph.edges:
        # Versions differ in whether the first block has an entry; code that nothing leads to has none.
        if (block == 0 or block in dominators) and _dominates(dominators, header, block):
            bodies.setdefault(header, set()).update(_body(graph, header, block))
    depths = [0] * len(successors)
    for body in bodies.values():
        for block in body:
            depths[block] += 1
    return depths


def _dominates(dominators: dict[int, int | None], header: int, block: int) -> bool:
    """Return True if all ways to a block go through another."""
    current: int | None = block
    while current is not None and current != header:
        above = dominators.get(current)
        current = None if above == current else above
    return current == header


def _body(graph: Any, header: int, last: int) -> set[int]:  # noqa: ANN401 (networkx has no annotations)
    """The blocks from which the last one is reached without the first."""
    body, left = {header, last}, [last]
    while left:
        block = left.pop()
        for before in graph.predecessors(block) if block != header else ():
            if before not in body:
                body.add(before)
                left.append(before)
    return body
