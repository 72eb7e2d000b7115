"""Where variables are live, and which of them can share one C variable.

A phi and the values that it takes get one variable where their lifetimes don't overlap (out of SSA after Boissinot
et al., "Revisiting out-of-SSA translation", CGO 2009: two values interfere if one is live where the other is
defined). Lifetimes end where the *text* reads a value, so that a folded expression keeps its variables
alive.
Sets of values are integers' bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.liveness import Live, Liveness
from coarsen.backend.opencl_c.decide.folding import Dataflow, Folding
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.kernel import Kernel


class TextLiveness(Liveness):
    """Live variables of a kernel, of those that take part in phis."""

    def __init__(self, kernel: Kernel, flow: ControlFlow, dataflow: Dataflow, folding: Folding) -> None:
        self.dataflow = dataflow
        self.folding = folding
        self._of_inlined: dict[str, Live] = {}
        super().__init__(kernel, flow)

    def phis(self, block: str) -> list[Instruction]:
        """Return the phis of a block that have variables."""
        return [phi for phi in self.kernel.block[block].phis if phi.name in self.folding.variables]

    def copies(self, source: str, target: str) -> list[tuple[str, Operand]]:
        """Return what the edge from `source` to `target` assigns: phi's name and value.

        Copies to itself left out.
        """
        found = []
        for phi in self.phis(target):
            index = phi.incoming.index(source)
            value = self.dataflow.origin(phi.operands[index])
            if not (value.is_local and value.text == phi.name):
                found.append((phi.name, value))
        return found

    @cached_property
    def candidates(self) -> Mapping[str, int]:
        """The values that take part in phis, with their bits' numbers."""
        names: dict[str, int] = {}
        for block in self.flow.reverse_postorder:
            for phi in self.phis(block):
                for name in (phi.name, *(self.dataflow.origin(v).text for v in phi.operands if v.is_local)):
                    if name in self.folding.variables:
                        names.setdefault(name, len(names))
        return names

    def read_by(self, instruction: Instruction) -> Live:
        """Return the candidates that an instruction's own statement names; none where it has no statement."""
        is_folded = instruction.name in self.folding.inlined
        return frozenset() if is_folded else self._named_by(self.dataflow.operands(instruction))

    def taken_from(self, block: str) -> Live:
        """Return the candidates that the edges out of a block read."""
        edges = (self.copies(block, successor) for successor in self.flow.successors(block))
        return self._named_by(value for edge in edges for _, value in edge)

    def _named_by(self, origins: Iterable[Operand]) -> Live:
        """The candidates that the text of some values names."""
        values = (value.text for value in origins if value.kind is ValueKind.INSTRUCTION)
        return frozenset().union(*map(self._named_by_value, values))

    def _named_by_value(self, name: str) -> Live:
        if name not in self.folding.inlined:
            return frozenset((name,)) if name in self.candidates else frozenset()
        known = self._of_inlined.get(name)
        if known is None:
            operands = self.dataflow.operands(self.kernel.definition[name])
            known = self._of_inlined[name] = self._named_by(operands)
        return known

    @cached_property
    def live_behind(self) -> Mapping[str, int]:
        """The candidates that are live right after the definition of each: it interferes with those."""
        found = dict.fromkeys(self.candidates, 0)
        for block in self.flow.reverse_postorder:
            alive = self._bits(self.at_exit[block])
            instructions = self.kernel.block[block].instructions
            for instruction, step in zip(reversed(instructions), self.steps(block), strict=False):
                if instruction.name in found:
                    found[instruction.name] = alive
                alive ^= self._bits(step.dying | step.born)
            found.update((phi.name, alive) for phi in self.phis(block))
        return found

    def _bits(self, names: Live) -> int:
        return sum(1 << self.candidates[name] for name in names)


# The variables that are shared:
#
# %i = phi [0, %entry], [%i.next, %body]  and  %i.next = add %i, 1   →   i = i + 1;

_LARGEST_COMPARISON = 4096


def share_variables(liveness: TextLiveness) -> Mapping[str, str]:
    """Return the representative of each candidate's variable; values with the same one share it."""
    group_of = {name: [name] for name in liveness.candidates}
    # Of each group, by its representative: its members, and what is live where one is defined, as bits.
    members = {name: 1 << bit for name, bit in liveness.candidates.items()}
    live = dict(liveness.live_behind)
    for phi, operand in _taken(liveness):
        one, other = group_of[phi.name], group_of[operand.text]
        if one is other or len(one) * len(other) > _LARGEST_COMPARISON or phi.type != operand.type:
            continue
        if members[one[0]] & live[other[0]] or live[one[0]] & members[other[0]]:
            continue
        members[one[0]] |= members[other[0]]
        live[one[0]] |= live[other[0]]
        one.extend(other)
        group_of.update(dict.fromkeys(other, one))
    return {name: group_of[name][0] for name in liveness.candidates}


def _taken(liveness: TextLiveness) -> Iterator[tuple[Instruction, Operand]]:
    """Yield each phi with a variable, with each value that has one, too."""
    for block in liveness.flow.reverse_postorder:
        for phi in liveness.phis(block):
            for operand in map(liveness.dataflow.origin, phi.operands):
                if operand.text in liveness.candidates and operand.is_local:
                    yield phi, operand
