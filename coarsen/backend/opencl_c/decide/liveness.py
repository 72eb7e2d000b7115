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
from coarsen.backend.opencl_c.decide.folding import Dataflow, Folding
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.kernel import Kernel

_PHI = -1


class Liveness:
    """Live variables of a kernel, for those that take part in phis."""

    def __init__(self, kernel: Kernel, flow: ControlFlow, dataflow: Dataflow, folding: Folding) -> None:
        self.kernel = kernel
        self.flow = flow
        self.dataflow = dataflow
        self.folding = folding
        self._of_inlined: dict[str, frozenset[str]] = {}

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

    @cached_property
    def place(self) -> Mapping[str, tuple[str, int]]:
        """Return where each candidate is defined: block, and place in it (-1 for a phi)."""
        places: dict[str, tuple[str, int]] = {}
        for block in self.kernel.blocks:
            for index, instruction in enumerate(block.instructions):
                if instruction.name in self.candidates:
                    places[instruction.name] = (block.name, _PHI if instruction.opcode == "phi" else index)
        return places

    @cached_property
    def last_read(self) -> Mapping[tuple[str, str], int]:
        """The last place in a block where a candidate is read, by (block, candidate)."""
        found: dict[tuple[str, str], int] = {}
        for block in self.kernel.blocks:
            for index, instruction in enumerate(block.instructions):
                if self._is_root(instruction):
                    for name in self._read_by(self.dataflow.operands(instruction)):
                        if name in self.candidates:
                            found[block.name, name] = index
        return found

    def _is_root(self, instruction: Instruction) -> bool:
        """Return True if it has a statement of its own."""
        if instruction.opcode == "phi":
            return False
        return not instruction.name or instruction.name not in self.folding.inlined

    @cached_property
    def _used_in(self) -> Mapping[str, int]:
        used: dict[str, int] = {}
        for block, name in self.last_read:
            used[block] = used.get(block, 0) | 1 << self.candidates[name]
        return used

    @cached_property
    def _defined_in(self) -> Mapping[str, int]:
        defined: dict[str, int] = {}
        for name, (block, index) in self.place.items():
            if index != _PHI:
                defined[block] = defined.get(block, 0) | 1 << self.candidates[name]
        return defined

    @cached_property
    def live(self) -> tuple[Mapping[str, int], Mapping[str, int]]:
        """The candidates live after each block's phis, and at its end (reads of its edges included)."""
        edge_reads = {block: self._edge_reads(block) for block in self.flow.reverse_postorder}
        phis = {block: self._bits(phi.name for phi in self.phis(block)) for block in edge_reads}
        live_in, live_out = dict.fromkeys(edge_reads, 0), dict(edge_reads)
        changed = True
        while changed:
            changed = False
            for block in reversed(self.flow.reverse_postorder):
                out = edge_reads[block]
                for successor in self.flow.successors(block):
                    out |= live_in[successor] & ~phis[successor]
                # A value used here may be defined here too: SSA has no use before its definition.
                into = (self._used_in.get(block, 0) | out) & ~self._defined_in.get(block, 0)
                if into != live_in[block] or out != live_out[block]:
                    live_in[block], live_out[block], changed = into, out, True
        return live_in, live_out

    def _edge_reads(self, block: str) -> int:
        edges = (self.copies(block, successor) for successor in self.flow.successors(block))
        return self._bits(self._read_by(value for edge in edges for _, value in edge))

    def _read_by(self, origins: Iterable[Operand]) -> frozenset[str]:
        """The variables that the text of some values names."""
        values = (value.text for value in origins if value.kind is ValueKind.INSTRUCTION)
        return frozenset().union(*map(self._read_by_value, values))

    def _read_by_value(self, name: str) -> frozenset[str]:
        if name in self.folding.variables:
            return frozenset((name,))
        if name not in self.folding.inlined:
            return frozenset()
        known = self._of_inlined.get(name)
        if known is None:
            operands = self.dataflow.operands(self.kernel.definition[name])
            known = self._of_inlined[name] = self._read_by(operands)
        return known

    def _bits(self, names: Iterable[str]) -> int:
        bits = 0
        for name in names:
            if name in self.candidates:
                bits |= 1 << self.candidates[name]
        return bits

    @cached_property
    def live_behind(self) -> Mapping[str, int]:
        """The candidates that are live right after the definition of each: it interferes with those."""
        defined: dict[str, list[tuple[str, int]]] = {}
        for name, (block, index) in self.place.items():
            defined.setdefault(block, []).append((name, index))
        read: dict[str, list[tuple[int, str]]] = {}
        for (block, name), index in self.last_read.items():
            read.setdefault(block, []).append((index, name))
        found: dict[str, int] = {}
        for block, places in defined.items():
            found.update(self._behind_definitions(block, places, sorted(read.get(block, ()))))
        return found

    def _behind_definitions(
        self, block: str, places: list[tuple[str, int]], reads: list[tuple[int, str]]
    ) -> Iterator[tuple[str, int]]:
        """Yield the values live after each definition of a block, from its end; last reads come by their place."""
        live_in, live_out = self.live
        alive = live_out.get(block, 0)
        defined = live_in.get(block, 0) | self._bits(name for name, _ in places)
        for name, index in reversed(places):
            if index == _PHI:
                yield name, live_in.get(block, 0)
                continue
            while reads and reads[-1][0] > index:
                alive |= 1 << self.candidates[reads.pop()[1]]
            yield name, defined & alive
            defined &= ~(1 << self.candidates[name])


# The variables that are shared:
#
# %i = phi [0, %entry], [%i.next, %body]  and  %i.next = add %i, 1   →   i = i + 1;

_LARGEST_COMPARISON = 4096


def share_variables(liveness: Liveness) -> Mapping[str, str]:
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


def _taken(liveness: Liveness) -> Iterator[tuple[Instruction, Operand]]:
    """Yield each phi with a variable, with each value that has one, too."""
    for block in liveness.flow.reverse_postorder:
        for phi in liveness.phis(block):
            for operand in map(liveness.dataflow.origin, phi.operands):
                if operand.text in liveness.candidates and operand.is_local:
                    yield phi, operand
