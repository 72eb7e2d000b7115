"""Tests for agreement, as coarsened kernels have them: where replicas part, and where they stay together.

    head:    %all = and %c, %c.1              br %all, in, differ
    differ:  %any = or %c, %c.1               br %any, parted, out

Which replicas part is for data to decide where nothing is known of the conditions. For predictions the replicas are
then taken to agree, as the transform takes them: `parted` is not reached.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coarsen.analysis.control_flow import ControlFlow
from coarsen.ir.kernel import Instruction, Kernel, Value, ValueKind

_OPPOSITE = {"and": "or", "or": "and"}


@dataclass(frozen=True, slots=True)
class AgreementTest:
    """A test for agreement.

    Attributes:
        head: the block where replicas that agree on one side go on.
        end: the block where those that agree on the other one do.
        parted: where `end` goes if they part.
        condition: that of one of the replicas.
        ends_loop: whether `head` leaves a loop: replicas part in its last round, of which its count is a mean.
    """

    head: str
    end: str
    parted: str
    condition: Value
    ends_loop: bool


def agreement_tests(kernel: Kernel, control_flow: ControlFlow) -> tuple[AgreementTest, ...]:
    """Return a kernel's tests for agreement."""
    blocks = control_flow.reverse_postorder
    return tuple(test for block in blocks for test in _test_ended_by(kernel, control_flow, block))


def _test_ended_by(kernel: Kernel, control_flow: ControlFlow, block: str) -> Iterator[AgreementTest]:
    predecessors = control_flow.predecessors(block)
    if len(predecessors) != 1:
        return
    head = kernel.block[predecessors[0]].terminator
    first, second = _Joined.of(kernel, head), _Joined.of(kernel, kernel.block[block].terminator)
    if first is None or second is None or first.opcode != _OPPOSITE[second.opcode]:
        return
    if not first.is_of_same(second) or head.targets[first.opcode == "and"] != block:
        return
    parted = kernel.block[block].terminator.targets[second.opcode == "and"]
    ends_loop = control_flow.loop_of[predecessors[0]] != control_flow.loop_of[block]
    yield AgreementTest(predecessors[0], block, parted, first.condition, ends_loop)


@dataclass(frozen=True)
class _Joined:
    """Conditions that a branch joins: the operation, all values on the way, and those that it starts from."""

    opcode: str
    values: frozenset[str]
    conditions: frozenset[str]
    condition: Value

    @staticmethod
    def of(kernel: Kernel, branch: Instruction) -> _Joined | None:
        """Return what a branch joins, None where it asks for a single condition."""
        if branch.opcode != "br" or len(branch.targets) < 2:
            return None
        last = _definition(kernel, branch.arguments[0])
        if last is None or last.opcode not in _OPPOSITE:
            return None
        values, conditions = {last.name}, dict[str, Value]()
        pending = list(last.operands)
        while pending:
            value = pending.pop()
            definition = _definition(kernel, value)
            text = definition.name if definition is not None else value.text
            values.add(text)
            if definition is not None and definition.opcode == last.opcode:
                pending.extend(definition.operands)
            else:
                conditions[text] = value
        return _Joined(last.opcode, frozenset(values), frozenset(conditions), list(conditions.values())[-1])

    def is_of_same(self, other: _Joined) -> bool:
        """Return True if another asks for the same conditions, some of which one of them may join before."""
        is_several = min(len(self.conditions), len(other.conditions)) > 1
        return is_several and (other.conditions <= self.values or self.conditions <= other.values)


def _definition(kernel: Kernel, value: Value) -> Instruction | None:
    """The instruction that computes a value, behind the phis that only take it out of loops."""
    while value.kind is ValueKind.INSTRUCTION:
        found = kernel.definition[value.text]
        if found.opcode != "phi" or len(found.operands) != 1:
            return found
        value = found.operands[0]
    return None
