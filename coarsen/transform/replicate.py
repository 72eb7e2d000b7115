"""Replication: the body of the coarsened kernel, made of copies of the kernel's own instructions.

Outside of divergent regions a uniform instruction stands once and a divergent one F times, interleaved:

    before                          after (factor 2)
    %p = gep %row, %x               %p = gep %row, %x
    %v = load %p                    %p.1 = gep %row, %x.1
    %u = load %uniform              %v = load %p
    %s = fadd %v, %u                %v.1 = load %p.1
                                    %u = load %uniform
                                    %s = fadd %v, %u
                                    %s.1 = fadd %v.1, %u

What is done to a divergent region is planned before (`regions/plan.py`):

    copies       the region is replicated whole, one copy after the other (`sequence.py`)

    fast path,   its blocks are written like those outside of regions; where the replicas may part a test is made
    lock-step    (`slow_path.py`) that leads, should they, to the region's slow path, after which they meet again

        head ─ all ─▶ region, interleaved ───────────▶ join          loop: header ─ all stay ─▶ body ─▶ header
          ├─ none ─▶ the other side ─────────────────▶ join                  ├─ none stays ─▶ exit ─▶ join
          └─ some ─▶ each replica alone (slow path) ─▶ join                  └─ some stay ─▶ slow path ─▶ join

Refuses nothing itself: `coarsen.py` has checked legality before.
"""

from __future__ import annotations

from collections.abc import Iterator

from coarsen.ir.graph.builder import Builder
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.operands import Operand
from coarsen.ir.graph.rewriting import ValueMap, copy_instruction, for_replica, same_origin
from coarsen.transform.ids import IdRewriter
from coarsen.transform.regions.plan import PlannedRegion, RegionPlan, Treatment
from coarsen.transform.regions.plan_regions import is_behind_barrier
from coarsen.transform.regions.sequence import CopiesInSequence, RejoinBarriers
from coarsen.transform.regions.slow_path import AgreementTest, SlowPath, slow_path
from coarsen.transform.replicas import Replicas
from coarsen.variant.transforms import DeviceKind


class Replicator:
    """Replicates the body of one kernel.

    Args:
        plan: what is done to its divergent regions.
        replicas: what stands for its values and blocks in each replica.
        ids: answers its queries.
    """

    def __init__(self, plan: RegionPlan, replicas: Replicas, ids: IdRewriter) -> None:
        self._plan = plan
        self._ids = ids
        self._planned = tuple(plan.all())
        self._meetings = RejoinBarriers(plan.divergence, replicas.module)
        self._replicas = replicas
        self._shared, self._values = replicas.shared, replicas.values
        self._meet = {planned.region.head: self._meetings.of_region(planned) for planned in self._planned}
        self._slow_path = {planned.region.head: self._alone(planned) for planned in self._planned}
        self._tests = {test.block: test for planned in self._planned for test in self._tests_of(planned)}
        self._joining: dict[str, list[PlannedRegion]] = {}
        for planned in self._planned:
            self._joining.setdefault(planned.region.join, []).append(planned)

    def replicate(self) -> None:
        """Write the coarsened body."""
        originals = [block for block in self._plan.kernel.blocks if block.name not in self._plan.copied]
        blocks = [block for original in originals for block in self._shared_blocks(original)]
        for original in originals:
            self._complete_phis(original)
        entry, body = blocks[0], blocks[0].take_from(0)
        for instruction in (*self._replicas.variables.take_from(0), *self._ids.start.block.take_from(0), *body):
            entry.append(instruction)
        function = self._replicas.module.function(self._plan.kernel.name)
        for block in blocks:
            function.append(block)
        self._ids.start.queries.declare()
        self._meetings.declare()

    # What is done to the divergent regions.

    def _alone(self, planned: PlannedRegion) -> SlowPath:
        """The copies of a region, or its slow path, which has copies of its own."""
        region, meet, kind = planned.region, self._meet[planned.region.head], self._plan.transforms.device_kind
        if planned.treatment is Treatment.COPIES:
            head = self._shared.block(self._plan.kernel.block[region.head])
            return CopiesInSequence(self._replicas, region, planned.entry, self._values, head, meet, for_replica)
        keeps_loops_out = kind is DeviceKind.CPU or (
            kind is DeviceKind.ANY and is_behind_barrier(self._plan.divergence, region.head)
        )
        return slow_path(region, planned.entry, self._replicas, meet, keeps_loops_out=keeps_loops_out)

    def _tests_of(self, planned: PlannedRegion) -> Iterator[AgreementTest]:
        for name in sorted(planned.branches):
            block = self._plan.kernel.block[name]
            branch = block.terminator
            first = planned.first_target(self._plan.divergence.control_flow, name)
            yield AgreementTest(
                block=self._shared.block(block),
                conditions=[values.operand(branch.operands[0]) for values in self._values],
                targets=[self._shared.block(target) for target in branch.blocks],
                is_true_first=first == branch.blocks[0].name,
                parted=self._slow_path[planned.region.head].dispatch,
                origin=branch.origin,
                supply=self._replicas.supply,
            )

    # Shared blocks: uniform once, divergent interleaved.

    def _shared_blocks(self, original: Block) -> Iterator[Block]:
        """Write a shared block, the second half of its test, and what stands after it as the head of a region."""
        block = self._shared.block(original)
        for instruction in original.instructions[:-1]:
            self._interleave(instruction, block)
        test = self._tests.get(block)
        slow = self._slow_path.get(block.name)
        build = Builder(block, original.terminator.origin)
        if test:
            test.build_first_half()
        elif slow and slow.dispatch is block:
            slow.enter(build)
        else:
            build.insert(copy_instruction(original.terminator, ValueMap(self._values[0])))
        yield block
        if test:
            test.build_second_half()
            yield test.differ
        if slow and slow.dispatch is not block:
            build = Builder(slow.dispatch, slow.dispatch.origin)
            self._meet[block.name](build)
            slow.enter(build)
            yield slow.dispatch
        if slow:
            yield from slow.blocks()

    def _interleave(self, instruction: Instruction, block: Block) -> None:
        divergent = self._plan.divergence.is_divergent(instruction)
        is_phi = instruction.opcode is Opcode.PHI
        for k, values in enumerate(self._values if divergent else self._values[:1]):
            if is_phi:
                block.append(self._phi(instruction, k))
            else:
                self._replicas.write(instruction, k, values, block, for_replica(k) if divergent else same_origin)

    def _phi(self, original: Instruction, k: int) -> Instruction:
        copied = self._values[k].find(original)
        assert isinstance(copied, Instruction)
        return copied

    def _complete_phis(self, block: Block) -> None:
        """Give a shared block's phis their sources, which are all written by now."""
        for phi in block.phis:
            divergent = self._plan.divergence.is_divergent(phi)
            for k in range(len(self._values) if divergent else 1):
                for value, source in self._incoming(phi, block, k):
                    self._phi(phi, k).add_incoming(value, source)

    def _incoming(self, phi: Instruction, block: Block, k: int) -> Iterator[tuple[Operand, Block]]:
        """A phi of a shared block; the ways out of copies all come from the last block after them."""
        joining = self._joining.get(block.name, [])
        copied = [planned for planned in joining if planned.treatment is Treatment.COPIES]
        for value, source in phi.edges():
            if not any(planned.is_left_from(source.name) for planned in copied):
                yield self._values[k].operand(value), self._leaving(source, block)
        for planned in joining:
            if any(planned.is_left_from(source.name) for source in phi.blocks):
                slow = self._slow_path[planned.region.head]
                yield slow.out(phi, k), slow.last

    def _leaving(self, source: Block, target: Block) -> Block:
        """The block from which the edge between two shared blocks comes."""
        copied = self._shared.block(source)
        test = self._tests.get(copied)
        return test.block_before(self._shared.block(target)) if test else copied
