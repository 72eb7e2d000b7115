"""Where the parts of a kernel stand in its source, also after transforms: positions go with the instructions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from coarsen.errors import SourcePosition
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.origin import Role
from coarsen.ir.kernel import Kernel

_NOT_OF_TRANSFORMS = frozenset({Role.SOURCE, Role.COMPILER})


@dataclass(frozen=True, slots=True)
class Lines:
    """The first and the last line, from 1, of the kernel's own file."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class LineRoles:
    """What the instructions of a coarsened kernel that come from one line are for.

    Attributes:
        replicas: the number of replicas that have instructions of the line for themselves, on the fast path.
        roles: what transforms made of the line besides, in the order of `Role`.
    """

    replicas: int
    roles: tuple[Role, ...]


def roles_by_line(kernel: Kernel) -> Mapping[tuple[str, int], LineRoles]:
    """Return what came of each line of the source, by file (empty for the kernel's own) and line.

    Args:
        kernel: coarsened.
    """
    found: defaultdict[tuple[str, int], set[tuple[Role, int | None]]] = defaultdict(set)
    for instruction in kernel.instructions():
        if instruction.position is not None:
            place = instruction.position.file, instruction.position.line
            found[place].add((instruction.origin.role, instruction.origin.replica))
    return {place: _line_roles(made) for place, made in found.items()}


def roles_without_line(kernel: Kernel) -> tuple[Role, ...]:
    """Return what transforms made in a coarsened kernel that is of no line of the source."""
    roles = {instruction.origin.role for instruction in kernel.instructions() if instruction.position is None}
    return tuple(role for role in Role if role in roles - _NOT_OF_TRANSFORMS)


def _line_roles(made: set[tuple[Role, int | None]]) -> LineRoles:
    replicas = {replica for role, replica in made if role is Role.SOURCE and replica is not None}
    roles = {role for role, _ in made} - _NOT_OF_TRANSFORMS
    return LineRoles(len(replicas), tuple(role for role in Role if role in roles))


def place_of_branch(kernel: Kernel, block: Block) -> SourcePosition | None:
    """Return where the branch at the end of a block stands, or its condition; None where neither is known."""
    condition = [operand.text for operand in block.terminator.arguments if operand.is_local]
    known = (kernel.definition[name].position for name in condition if name in kernel.definition)
    return block.terminator.position or next(filter(None, known), None)


def lines_of(blocks: Iterable[Block]) -> Lines | None:
    """Return the lines of the kernel itself that blocks have instructions from; None where there are none.

    What was inlined counts as the line of its call. Lines of other files than the kernel's don't count.
    """
    places = (_own_place(instruction) for block in blocks for instruction in block.instructions)
    numbers = [place.line for place in places if place is not None and not place.file]
    return Lines(min(numbers), max(numbers)) if numbers else None


def _own_place(instruction: Instruction) -> SourcePosition | None:
    """The place in the kernel: of the call, for what was inlined."""
    return instruction.call_position or instruction.position
