"""Replication: the body of the coarsened kernel, written as text.

Outside of divergent regions a uniform instruction stands once and a divergent one F times, interleaved:

    before                          after (factor 2)
    %p = gep %row, %x               %p = gep %row, %x
    %v = load %p                    %p.1 = gep %row, %x.1
    %u = load %uniform              %v = load %p
    %s = fadd %v, %u                %v.1 = load %p.1
                                    %u = load %uniform
                                    %s = fadd %v, %u
                                    %s.1 = fadd %v.1, %u

What is done to a divergent region is planned before (`region_plan.py`):

    copies       the region is replicated whole, one copy after the other (`sequence.py`)

    fast path,   its blocks are written like those outside of regions; where the replicas may part a test is made
    lock-step    (`agreement.py`) that leads, should they, to the region's slow path, behind which they meet again

        head ─ all ─▶ region, interleaved ───────────▶ join          loop: header ─ all stay ─▶ body ─▶ header
          ├─ none ─▶ the other side ─────────────────▶ join                  ├─ none stays ─▶ exit ─▶ join
          └─ some ─▶ each replica alone (slow path) ─▶ join                  └─ some stay ─▶ slow path ─▶ join

Refuses nothing itself: `coarsen.py` has checked legality before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from coarsen.ir.kernel import Block, Instruction
from coarsen.ir.printer import rename
from coarsen.transform.agreement import AgreementTest
from coarsen.transform.ids import IdRewriter
from coarsen.transform.meetings import Meetings
from coarsen.transform.names import NameSupply
from coarsen.transform.region_plan import PlannedRegion, RegionPlan, Treatment
from coarsen.transform.sequence import CopiesInSequence
from coarsen.transform.slow_path import SlowPath, Surroundings, slow_path
from coarsen.transform.written import Names, WrittenBlock, phi_line, spelling
from coarsen.variant.transforms import DeviceKind


class Replicator:
    """Writes the replicated body of one kernel.

    `_names[k]` maps each value and block that has copies to what replica k calls it, with `%`; what it lacks is
    shared by all replicas.
    """

    def __init__(self, plan: RegionPlan, ids: IdRewriter, supply: NameSupply) -> None:
        self._divergence = plan.divergence
        self._kernel = plan.divergence.kernel
        self._ids = ids
        self._supply = supply
        self._keeps_loops_out = plan.transforms.device_kind is DeviceKind.CPU
        self._factor = ids.coarsening.factor
        self._planned = tuple(plan.all())
        self._meetings = Meetings(plan.divergence)
        self._copied = frozenset().union(
            *(planned.region.blocks for planned in self._planned if planned.treatment is Treatment.COPIES)
        )
        self._at_start: set[str] = set()
        self._names: list[Names] = [dict(ids.own_names(k)) for k in range(self._factor)]
        self._name_copies()
        self._slow_path = {planned.region.head: self._carried_out_alone(planned) for planned in self._planned}
        self._tests = {test.block: test for planned in self._planned for test in self._tests_of(planned)}
        self._joining: dict[str, list[PlannedRegion]] = {}
        for planned in self._planned:
            self._joining.setdefault(planned.region.join, []).append(planned)

    def body(self) -> list[WrittenBlock]:
        """The blocks of the coarsened kernel, entry first."""
        written: list[WrittenBlock] = []
        for block in self._kernel.blocks:
            if block.name not in self._copied:
                written.extend(self._shared_blocks(block))
        entry = written[0]
        return [WrittenBlock(entry.name, (*self._variables(), *self._ids.prologue, *entry.lines)), *written[1:]]

    def declarations(self) -> Iterator[str]:
        """The `declare` lines for what the body calls and the kernel did not."""
        yield from self._ids.declarations()
        yield from self._meetings.declarations()

    def _variables(self) -> Iterator[str]:
        """The private variables that slow paths need; they stand first in the kernel."""
        for slow in self._slow_path.values():
            yield from slow.variables()

    # Names.

    def _name_copies(self) -> None:
        for block in self._kernel.blocks:
            if block.name in self._copied:
                self._name(block.name)
            for instruction in block.instructions:
                if instruction.name:
                    self._name_value(instruction, block.name in self._copied)

    def _name_value(self, instruction: Instruction, copied: bool) -> None:
        replicas = self._ids.answered_at_start(instruction)
        if replicas:
            self._at_start.add(instruction.name)
            for k, names in enumerate(self._names):
                names[instruction.name] = replicas[k if len(replicas) > 1 else 0]
        elif copied or self._divergence.is_divergent(instruction):
            self._name(instruction.name)

    def _name(self, name: str) -> None:
        for k, names in enumerate(self._names):
            names[name] = "%" + self._supply.replica(name, k)

    # What is done to the divergent regions.

    def _carried_out_alone(self, planned: PlannedRegion) -> SlowPath:
        """The copies of a region, or its slow path, whose copies have names of their own."""
        region, head = planned.region, planned.region.head
        meeting = self._meetings.of_region(planned)
        if planned.treatment is not Treatment.COPIES:
            return slow_path(region, planned.entry, self._surroundings, meeting)
        names = self._names
        return CopiesInSequence(
            self._divergence, region, planned.entry, names, names, head, self._clone, self._supply, meeting
        )

    @cached_property
    def _surroundings(self) -> Surroundings:
        at_start = frozenset(self._at_start)
        return Surroundings(
            self._divergence, self._ids, at_start, self._names, self._clone, self._supply, self._keeps_loops_out
        )

    def _tests_of(self, planned: PlannedRegion) -> Iterator[AgreementTest]:
        for block in sorted(planned.branches):
            conditions = self._kernel.block[block].terminator.arguments
            yield AgreementTest(
                block=block,
                conditions=tuple(spelling(conditions[0], names) for names in self._names),
                targets=self._kernel.block[block].terminator.targets,
                first=planned.first_target(self._divergence.control_flow, block),
                parted=self._slow_path[planned.region.head].dispatch,
                supply=self._supply,
            )

    # Shared blocks: uniform once, divergent interleaved.

    def _shared_blocks(self, block: Block) -> Iterator[WrittenBlock]:
        """A shared block, the second half of its test, and what stands behind it as the head of a region."""
        lines: list[str] = []
        for instruction in block.instructions[:-1]:
            lines.extend(self._interleaved(instruction, block))
        test = self._tests.get(block.name)
        slow = self._slow_path.get(block.name)
        if test:
            lines.extend(test.first_half())
        elif slow and slow.dispatch == block.name:
            lines.extend(slow.coming_in())
        else:
            lines.append(rename(block.terminator.text, self._names[0]))
        yield WrittenBlock(block.name, tuple(lines))
        if test:
            yield test.second_half()
        if slow and slow.dispatch != block.name:
            yield WrittenBlock(slow.dispatch, (*slow.meeting, *slow.coming_in()))
        if slow:
            yield from slow.blocks()

    def _interleaved(self, instruction: Instruction, block: Block) -> Iterator[str]:
        divergent = self._divergence.is_divergent(instruction)
        for k in range(self._factor if divergent else 1):
            if instruction.opcode == "phi":
                name = self._names[k].get(instruction.name, "%" + instruction.name)
                yield phi_line(name, instruction, self._incoming(instruction, block, k))
            else:
                yield from self._clone(instruction, k, self._names[k])

    def _incoming(self, phi: Instruction, block: Block, k: int) -> Iterator[tuple[str, str]]:
        """A phi of a shared block; the ways out of copies all come from the last block behind them."""
        joining = self._joining.get(block.name, [])
        copied = [planned for planned in joining if planned.treatment is Treatment.COPIES]
        for value, source in zip(phi.operands, phi.incoming, strict=True):
            if not any(planned.is_left_from(source) for planned in copied):
                yield spelling(value, self._names[k]), "%" + self._leaving(source, block.name)
        for planned in joining:
            if any(map(planned.is_left_from, phi.incoming)):
                slow = self._slow_path[planned.region.head]
                yield slow.out(phi, k), "%" + slow.last

    def _leaving(self, source: str, target: str) -> str:
        """The block from which the edge between two shared blocks comes."""
        test = self._tests.get(source)
        return test.block_before(target) if test else source

    # One instruction for one replica.

    def _clone(self, instruction: Instruction, k: int, names: Mapping[str, str]) -> Iterator[str]:
        if instruction.name in self._at_start:
            return
        if not self._ids.handles(instruction):
            yield rename(instruction.text, names)
        else:
            name = names.get(instruction.name, "%" + instruction.name)[1:]
            yield from self._ids.selection(instruction, name, k, names)
