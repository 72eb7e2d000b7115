"""Tests for agreement, as coarsened kernels have them: where replicas part, and where they stay together.

    head:    %all = and %c, %c.1              br %all, in, differ
    differ:  %any = or %c, %c.1               br %any, parted, out

Which replicas part is for data to decide where nothing is known of the conditions. For predictions the replicas
are then taken to agree, as the transform takes them. So the first test says for all of them what a later one of
the same conditions finds: `parted` is not reached. Branches that ask for one position (`if (item == 0)`) are told
by their comparison: at most one replica takes such a side.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.divergence import Divergence
from coarsen.ir.graph.instruction import Instruction, predicate
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.queries import SIZES_IN_ITEMS, query_of
from coarsen.ir.types import IntegerType

_JOINING = ("and", "or")


@dataclass(frozen=True, slots=True)
class LaterTest:
    """A branch on the same conditions once more, behind one of the first one's sides.

    Attributes:
        block: that ends with it.
        agreed: where it goes if the replicas agree.
        first: the block of the first one.
        is_behind_true: whether it stands behind the first one's side for a condition that holds.
        is_next: whether no other test stands between them.
        ends_loop: whether the first test leaves a loop: replicas part in its last round, of which its count is a
            mean.
    """

    block: str
    agreed: str
    first: str
    is_behind_true: bool
    is_next: bool
    ends_loop: bool


class AgreementTests:
    """The tests for agreement of a kernel.

    Attributes:
        first: of each block with the first branch on what several replicas decide, their conditions.
        later: by block.
    """

    def __init__(self, kernel: Kernel, control_flow: ControlFlow) -> None:
        self._kernel = kernel
        self._flow = control_flow
        self._conditions = {
            block: found
            for block in control_flow.reverse_postorder
            if len(found := _conditions(kernel, kernel.block[block].terminator)) > 1
        }
        self.later = {test.block: test for block in self._conditions for test in self._later(block)}
        roots = {self._first_of(test.block) for test in self.later.values()}
        self.first = {block: tuple(self._conditions[block].values()) for block in roots if block}

    def _first_of(self, block: str) -> str | None:
        """The outermost of the blocks on the way that ask for the same conditions, others among them perhaps."""
        wanted, first = self._conditions[block].keys(), None
        around = block
        while around != self._flow.entry:
            around = self._flow.immediate_dominator[around]
            if around in self._conditions and wanted <= self._conditions[around].keys():
                first = around
        return first

    def _later(self, block: str) -> Iterator[LaterTest]:
        first = self._first_of(block)
        if first is None:
            return
        sides = self._kernel.block[first].terminator.targets
        is_behind = [
            self._flow.predecessors(side) == [first] and self._flow.dominates(side, block) for side in sides
        ]
        if sum(is_behind) == 1:
            side = is_behind.index(True)
            targets = self._kernel.block[block].terminator.targets
            ends_loop = self._flow.loop_of[first] != self._flow.loop_of[sides[side]]
            yield LaterTest(block, targets[side], first, side == 0, sides[side] == block, ends_loop)


def _conditions(kernel: Kernel, branch: Instruction) -> dict[str, Operand]:
    """The conditions that a branch joins by `and` and `or`, by name."""
    found: dict[str, Operand] = {}
    pending = list(branch.arguments) if branch.opcode == "br" and len(branch.targets) > 1 else []
    while pending:
        value = pending.pop()
        definition = _definition(kernel, value)
        if definition is not None and definition.opcode in _JOINING:
            pending.extend(definition.operands)
        elif definition is not None:
            found[definition.name] = value
    return found


def _definition(kernel: Kernel, value: Operand) -> Instruction | None:
    """The instruction that computes a value, behind the phis that only take it out of loops."""
    while value.kind is ValueKind.INSTRUCTION:
        found = kernel.definition[value.text]
        if found.opcode != "phi" or len(found.operands) != 1:
            return found
        value = found.operands[0]
    return None


# Branches that ask for one position.

_SHIFTS = frozenset({"add", "sub", "trunc", "zext", "sext"})
# Ids of fewer bits may be the same for several of the merged work-items.
_ID_WIDTH = 32


def side_of_one(divergence: Divergence, branch: str) -> str | None:
    """Return the side of a branch that one replica takes at most, as it asks for one position; or None."""
    terminator = divergence.kernel.block[branch].terminator
    condition = difference_of(divergence, terminator.arguments[0])
    if condition is None or asked_id(divergence, condition) is None:
        return None
    return terminator.targets[0 if predicate(condition) == "eq" else 1]


def asked_id(divergence: Divergence, condition: Instruction) -> Operand | None:
    """Return the id that a condition compares with one position, at most shifted by what replicas share; or None.

    The condition tells whether the two are equal, or whether they are not.
    """
    if condition.opcode != "icmp" or predicate(condition) not in ("eq", "ne"):
        return None
    differing = [each for each in condition.operands if difference_of(divergence, each) is not None]
    if len(differing) != 1:
        return None
    *_, origin = _shifted(divergence, differing[0])
    return differing[0] if origin.opcode == "call" and is_id(origin) else None


def _shifted(divergence: Divergence, value: Operand) -> Iterator[Instruction]:
    """Yield what computes a value, then each value that it is shifted from by what the replicas share."""
    instruction = difference_of(divergence, value)
    while instruction is not None:
        yield instruction
        made_of = instruction.operands if instruction.opcode in _SHIFTS else ()
        differing = [each for operand in made_of if (each := difference_of(divergence, operand)) is not None]
        instruction = differing[0] if len(differing) == 1 else None


def is_id(call: Instruction) -> bool:
    """Return True for a query of an id."""
    query = query_of(call)
    return query is not None and query not in SIZES_IN_ITEMS


def is_wide_id(divergence: Divergence, value: Operand) -> bool:
    """Return True if an id, at most shifted, is nowhere cut to so few bits that another could equal it."""
    types = [each.type for each in _shifted(divergence, value) if each.opcode in _SHIFTS]
    return not any(isinstance(type_, IntegerType) and type_.width < _ID_WIDTH for type_ in types)


def difference_of(divergence: Divergence, value: Operand) -> Instruction | None:
    """Return the instruction that computes a value in which replicas differ; None where they share it."""
    return divergence.kernel.definition[value.text] if value.text in divergence.values and value.is_local else None
