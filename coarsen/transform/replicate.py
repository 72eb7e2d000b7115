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

A divergent region (`analysis/regions.py`) is replicated whole, one copy after the other. Behind each copy stands a
block that takes the copy's results out of it and enters the next one:

    head ─▶ region ─▶ join          head ─▶ region ─▶ after ─▶ region.1 ─▶ after.1 ─▶ join

Refuses nothing itself: `coarsen.py` has checked legality before.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass

from coarsen.analysis.divergence import Divergence
from coarsen.analysis.regions import Region
from coarsen.ir.kernel import Block, Instruction, Kernel, Value, ValueKind
from coarsen.ir.printer import rename
from coarsen.transform.ids import IdRewriter
from coarsen.transform.names import NameSupply
from coarsen.transform.region_plan import RegionPlan

Names = MutableMapping[str, str]


@dataclass(frozen=True, slots=True)
class WrittenBlock:
    """A block of the coarsened kernel: its name and its instructions' texts."""

    name: str
    lines: tuple[str, ...]


class Replicator:
    """Writes the replicated body of one kernel.

    `_names[k]` maps each value and block that has copies to what replica k calls it, with `%`; what it lacks is
    shared by all replicas.
    """

    def __init__(
        self,
        kernel: Kernel,
        divergence: Divergence,
        plan: RegionPlan,
        ids: IdRewriter,
        supply: NameSupply,
    ) -> None:
        regions = tuple(planned.region for planned in plan.regions)
        self._kernel = kernel
        self._divergence = divergence
        self._ids = ids
        self._supply = supply
        self._factor = ids.coarsening.factor
        self._region_at = {region.head: region for region in regions}
        self._regions_before: dict[str, list[Region]] = {}
        for region in regions:
            self._regions_before.setdefault(region.join, []).append(region)
        self._inside = frozenset().union(*(region.blocks for region in regions))
        self._after = {region.head: self._blocks_after(region) for region in regions}
        self._out: dict[tuple[str, str], str] = {}
        self._at_start: set[str] = set()
        self._names: list[Names] = [{} for _ in range(self._factor)]
        self._name_copies()

    def body(self) -> list[WrittenBlock]:
        """The blocks of the coarsened kernel, entry first."""
        written: list[WrittenBlock] = []
        for block in self._kernel.blocks:
            if block.name in self._inside:
                continue
            written.append(self._shared_block(block))
            if block.name in self._region_at:
                written.extend(self._copies(self._region_at[block.name]))
        entry = written[0]
        return [WrittenBlock(entry.name, (*self._ids.prologue, *entry.lines)), *written[1:]]

    # Names.

    def _blocks_after(self, region: Region) -> list[str]:
        return [self._supply.fresh(f"{region.join}.after") for _ in range(self._factor)]

    def _name_copies(self) -> None:
        for block in self._kernel.blocks:
            if block.name in self._inside:
                self._name(block.name)
            for instruction in block.instructions:
                if instruction.name:
                    self._name_value(instruction, block.name in self._inside)

    def _name_value(self, instruction: Instruction, inside: bool) -> None:
        replicas = self._ids.answered_at_start(instruction)
        if replicas:
            self._at_start.add(instruction.name)
            for k, names in enumerate(self._names):
                names[instruction.name] = replicas[k if len(replicas) > 1 else 0]
        elif inside or self._divergence.is_divergent(instruction):
            self._name(instruction.name)

    def _name(self, name: str) -> None:
        for k, names in enumerate(self._names):
            names[name] = "%" + self._supply.replica(name, k)

    # Shared blocks: uniform once, divergent interleaved.

    def _shared_block(self, block: Block) -> WrittenBlock:
        lines: list[str] = []
        for instruction in block.instructions[:-1]:
            lines.extend(self._interleaved(instruction, block))
        lines.append(self._terminator(block))
        return WrittenBlock(block.name, tuple(lines))

    def _interleaved(self, instruction: Instruction, block: Block) -> Iterator[str]:
        divergent = self._divergence.is_divergent(instruction)
        for k in range(self._factor if divergent else 1):
            if instruction.opcode == "phi":
                yield self._shared_phi(instruction, block, k)
            else:
                yield from self._clone(instruction, k, self._names[k])

    def _shared_phi(self, phi: Instruction, block: Block, k: int) -> str:
        """A phi outside of regions; at a join, all ways out of a region come from the last block after it."""
        regions = self._regions_before.get(block.name, [])
        names = self._names[k]
        incoming = [
            f"[ {_spelling(value, names)}, %{source} ]"
            for value, source in zip(phi.operands, phi.incoming, strict=True)
            if not any(_leaves(region, source) for region in regions)
        ]
        for region in regions:
            if any(_leaves(region, source) for source in phi.incoming):
                incoming.append(f"[ %{self._out_of_region(region, phi, k)}, %{self._after[region.head][-1]} ]")
        return f"{names.get(phi.name, '%' + phi.name)} = phi {phi.type} {', '.join(incoming)}"

    def _out_of_region(self, region: Region, phi: Instruction, k: int) -> str:
        """The name of a join's phi in the block after copy k of a region."""
        name = self._names[k].get(phi.name, "%" + phi.name)[1:]
        key = (region.head, name)
        if key not in self._out:
            self._out[key] = self._supply.fresh(f"{name}.out")
        return self._out[key]

    def _terminator(self, block: Block) -> str:
        region = self._region_at.get(block.name)
        names = self._names[0]
        if region is None:
            return rename(block.terminator.text, names)
        return rename(block.terminator.text, ChainMap({region.join: "%" + self._after[block.name][0]}, names))

    # Regions: one copy after the other.

    def _copies(self, region: Region) -> Iterator[WrittenBlock]:
        after = self._after[region.head]
        dispatch = region.head
        for k in range(self._factor):
            own = {region.join: "%" + after[k], region.head: "%" + dispatch}
            names: Names = ChainMap(own, self._names[k])
            for block in self._kernel.blocks:
                if block.name in region.blocks:
                    yield self._copy(block, k, names)
            yield self._block_after(region, k, names)
            dispatch = after[k]

    def _copy(self, block: Block, k: int, names: Names) -> WrittenBlock:
        lines: list[str] = []
        for instruction in block.instructions:
            lines.extend(self._clone(instruction, k, names))
        return WrittenBlock(names[block.name][1:], tuple(lines))

    def _block_after(self, region: Region, k: int, names: Names) -> WrittenBlock:
        """Takes the results of copy k out and enters copy k + 1, or the join after the last one."""
        lines = []
        for phi in self._kernel.block[region.join].phis:
            if k > 0 and not self._divergence.is_divergent(phi):
                continue
            leaving = [
                f"[ {_spelling(value, names)}, {names.get(source, '%' + source)} ]"
                for value, source in zip(phi.operands, phi.incoming, strict=True)
                if _leaves(region, source)
            ]
            lines.append(f"%{self._out_of_region(region, phi, k)} = phi {phi.type} {', '.join(leaving)}")
        if k + 1 < self._factor:
            entering = self._kernel.block[region.head].terminator
            following = {region.join: "%" + self._after[region.head][k + 1]}
            lines.append(rename(entering.text, ChainMap(following, self._names[k + 1])))
        else:
            lines.append(f"br label %{region.join}")
        return WrittenBlock(self._after[region.head][k], tuple(lines))

    # One instruction for one replica.

    def _clone(self, instruction: Instruction, k: int, names: Names) -> Iterator[str]:
        if instruction.name in self._at_start:
            return
        if not self._ids.handles(instruction):
            yield rename(instruction.text, names)
        else:
            name = names.get(instruction.name, "%" + instruction.name)[1:]
            yield from self._ids.selection(instruction, name, k, names)


def _leaves(region: Region, source: str) -> bool:
    """Whether a phi's incoming block is the region's head or one of its blocks."""
    return source == region.head or source in region.blocks


def _spelling(value: Value, names: Names) -> str:
    """An operand's text in a phi, for one replica."""
    if value.is_local:
        return names.get(value.text, "%" + value.text)
    return f"@{value.text}" if value.kind in (ValueKind.GLOBAL, ValueKind.FUNCTION) else value.text
