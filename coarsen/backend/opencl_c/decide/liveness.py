"""Where variables are live, and which of them can share one C variable.

A phi and the values that it takes get one variable where their lifetimes don't overlap (out of SSA after Boissinot
et al., "Revisiting out-of-SSA translation", CGO 2009: two values interfere if one is live where the other is
defined). Lifetimes end where the *text* reads a value (`Reads`), so that a folded expression keeps its variables
alive.
Sets of values are integers' bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from coarsen.analysis.control_flow import ControlFlow
from coarsen.backend.opencl_c.decide.dataflow import Dataflow
from coarsen.backend.opencl_c.decide.folding import Folding
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.kernel import Kernel

_PHI = -1


class Liveness:
    """Live variables of a kernel, for those that take part in phis."""

    def __init__(
        self, kernel: Kernel, flow: ControlFlow, dataflow: Dataflow, folding: Folding, reads: Reads
    ) -> None:
        self.kernel = kernel
        self.flow = flow
        self.dataflow = dataflow
        self.folding = folding
        self.reads = reads

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
                    for name in self.reads.of_instruction(instruction):
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
        read: set[str] = set()
        for successor in self.flow.successors(block):
            read |= self.reads.of_values(value for _, value in self.copies(block, successor))
        return self._bits(read)

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
    groups = _Groups(liveness)
    for block in liveness.flow.reverse_postorder:
        for phi in liveness.phis(block):
            for value in phi.operands:
                operand = liveness.dataflow.origin(value)
                if operand.text in liveness.candidates and operand.is_local:
                    groups.merge(phi.name, operand.text)
    return {name: groups.representative(name) for name in liveness.candidates}


class _Groups:
    """Sets of values with one variable each."""

    def __init__(self, liveness: Liveness) -> None:
        self.liveness = liveness
        self.group_of = {name: [name] for name in liveness.candidates}
        # Of each group, by its representative: its members, and what is live where one is defined, as bits.
        self.members = {name: 1 << bit for name, bit in liveness.candidates.items()}
        self.live = dict(liveness.live_behind)

    def representative(self, name: str) -> str:
        return self.group_of[name][0]

    def merge(self, first: str, second: str) -> None:
        """Put two values' groups together unless a pair among them interferes."""
        one, other = self.group_of[first], self.group_of[second]
        if one is other or len(one) * len(other) > _LARGEST_COMPARISON:
            return
        definition = self.liveness.kernel.definition
        if definition[first].type != definition[second].type:
            return
        if self.members[one[0]] & self.live[other[0]] or self.live[one[0]] & self.members[other[0]]:
            return
        self.members[one[0]] |= self.members[other[0]]
        self.live[one[0]] |= self.live[other[0]]
        one.extend(other)
        for name in other:
            self.group_of[name] = one


_NOTHING: frozenset[str] = frozenset()


class Reads:
    """Answers, with memory: the variables read by an instruction's operands, and by a value."""

    def __init__(self, kernel: Kernel, dataflow: Dataflow, folding: Folding) -> None:
        self.kernel = kernel
        self.dataflow = dataflow
        self.folding = folding
        self._of_inlined: dict[str, frozenset[str]] = {}

    def of_values(self, values: Iterable[Operand]) -> frozenset[str]:
        """Return the variables that the text of these values names."""
        return self._of_origins(map(self.dataflow.origin, values))

    def of_instruction(self, instruction: Instruction) -> frozenset[str]:
        """Return the variables that an instruction's own text names."""
        return self._of_origins(self.dataflow.operands(instruction))

    def _of_origins(self, origins: Iterable[Operand]) -> frozenset[str]:
        found: set[str] = set()
        for value in origins:
            if value.kind is ValueKind.INSTRUCTION:
                found |= self._of(value.text)
        return frozenset(found)

    def _of(self, name: str) -> frozenset[str]:
        if name in self.folding.variables:
            return frozenset((name,))
        if name not in self.folding.inlined:
            return _NOTHING
        known = self._of_inlined.get(name)
        if known is None:
            known = self._of_inlined[name] = self.of_instruction(self.kernel.definition[name])
        return known
