"""Accesses to neighbouring addresses that become vector accesses, of the replicas as well as of one work-item.

The rules are those of `transform/adjacent_accesses.py`: accesses of one block, of one type, at addresses that
differ by numbers, with nothing between them that may touch the same memory. Where replicas are a size apart, or
irregularly, each stands for itself.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from coarsen.analysis.affine import Access
from coarsen.analysis.aliasing import Aliasing, Place
from coarsen.analysis.index_forms import IndexForms
from coarsen.analysis.polynomial import Polynomial
from coarsen.features.access_functions import AccessFunction
from coarsen.features.planned_work.copies import Mask, Merging
from coarsen.features.work_counts import AccessCount, InstructionClass
from coarsen.ir.kernel import Block, Instruction, Kernel, ValueKind
from coarsen.transform.adjacent_accesses import is_plain_access, shape_of, split_run, without_gaps
from coarsen.variant.coarsening import Coarsening, Level

_GroupKey = tuple[object, ...]


@dataclass(frozen=True)
class WideGroup:
    """Accesses of a block that may become one.

    Attributes:
        members: their places among the kernel's accesses.
        elements: how many a member accesses.
    """

    members: tuple[int, ...]
    elements: int


@dataclass(frozen=True)
class WideCount:
    """Accesses after the merging.

    Attributes:
        accesses: that are left.
        saved: executed instructions that computed addresses which are needed no more, by class.
    """

    accesses: tuple[AccessCount, ...]
    saved: Mapping[InstructionClass, float]


class WideGroups:
    """The accesses of a kernel that may become vector accesses.

    Args:
        forms: of the kernel's indices.
        accesses: of the kernel.
    """

    def __init__(self, forms: IndexForms, accesses: Sequence[AccessFunction]) -> None:
        kernel = forms.kernel
        self._forms = forms
        self._aliasing = Aliasing(kernel)
        self._place = {id(each.access.instruction): place for place, each in enumerate(accesses)}
        self._accesses = [each.access for each in accesses]
        self.groups = tuple(group for block in kernel.blocks for group in self._of_block(block))
        uses = Counter(operand.text for i in kernel.instructions() for operand in i.operands if operand.is_local)
        self.addresses = [_address(kernel, access.instruction, uses) for access in self._accesses]

    def step(self, member: int, coarsening: Coarsening) -> int | None:
        """Return the bytes from one replica of an access to the next, None where that isn't a number for sure."""
        access = self._accesses[member]
        stride = access.stride_along(coarsening.dimension)
        if stride == 0:
            return 0
        if coarsening.level is Level.GROUP or not isinstance(stride, int):
            return None
        # A part of the address that is no sum moves as it does only nearly always.
        parts = (symbol for symbol in access.form.symbols if self._forms.symbols.piece(symbol) is not None)
        moving = any(
            self._forms.symbols.difference(Polynomial.symbol(part), coarsening.dimension) != Polynomial({})
            for part in parts
        )
        return None if moving else stride * coarsening.stride

    def _of_block(self, block: Block) -> Iterator[WideGroup]:
        found: dict[tuple[_GroupKey, int], list[int]] = {}
        times: Counter[tuple[Place, bool]] = Counter()
        for instruction in block.instructions:
            is_load = instruction.opcode == "load"
            key = self._key(instruction)
            own = (self._aliasing.place(instruction.operands[-1]), is_load) if key is not None else None
            footprint = self._aliasing.footprint(instruction)
            for place, loads in list(times):
                touched = footprint.writes if loads else (*footprint.writes, *footprint.reads)
                is_touched = any(self._aliasing.may_be_same(place, other) for other in touched)
                if (footprint.everything or is_touched) and (place, loads) != own:
                    times[place, loads] += 1
            if key is not None and own is not None:
                times.setdefault(own, 0)
                found.setdefault((key, times[own]), []).append(self._place[id(instruction)])
        for members in found.values():
            access = self._accesses[members[0]].instruction
            type_ = access.type if access.opcode == "load" else access.operands[0].type
            yield WideGroup(tuple(members), shape_of(type_)[1])

    def _key(self, instruction: Instruction) -> _GroupKey | None:
        """What only neighbours of an access have in common with it; None for one that is never merged."""
        place = self._place.get(id(instruction))
        if place is None or not is_plain_access(instruction):
            return None
        access = self._accesses[place]
        if access.base is None:
            return None
        type_ = instruction.type if access.is_load else instruction.operands[0].type
        rest = frozenset(term for term in access.form.terms.items() if term[0])
        return access.base.text, access.is_load, type_, rest


def widened(
    groups: WideGroups | None,
    planned: Sequence[AccessCount],
    accesses: Sequence[Access],
    copied: Sequence[Mask],
    chosen: Sequence[Coarsening],
    merging: Merging,
    looping: frozenset[str],
) -> WideCount:
    """Merge the accesses of a configuration.

    Args:
        groups: of the kernel; None where nothing is to be merged.
        planned: the accesses as they are without it.
        accesses: where they go.
        copied: the axes along which the block of each is copied.
        chosen: the coarsenings.
        merging: their factors and strides.
        looping: the kernel's blocks in loops; empty for one without loops.
    """
    if groups is None:
        return WideCount(tuple(planned), {})
    runs = {
        group: _runs(groups, group, accesses, copied[group.members[0]], chosen, merging) for group in groups.groups
    }
    merged = {group: found for group, found in runs.items() if any(length > 1 for length in found)}
    if looping and not any(
        accesses[g.members[0]].is_load or accesses[g.members[0]].block in looping for g in merged
    ):
        return WideCount(tuple(planned), {})
    kept = set(range(len(planned)))
    wide: list[AccessCount] = []
    saved: defaultdict[InstructionClass, float] = defaultdict(float)
    for group, found in merged.items():
        kept -= set(group.members)
        times = merging.along(copied[group.members[0]]) * _times(planned, accesses, group, copied, merging, found)
        wide.extend(_vectors(planned[group.members[0]], found, times))
        before = sum(planned[member].count for member in group.members)
        left = sum(found.values()) * times / before if before else 1.0
        for member in group.members:
            for kind, count in groups.addresses[member].items():
                saved[kind] += count * planned[member].count * (1 - left)
    rest = [planned[place] for place in sorted(kept)]
    return WideCount((*rest, *wide), saved)


def _times(
    planned: Sequence[AccessCount],
    accesses: Sequence[Access],
    group: WideGroup,
    copied: Sequence[Mask],
    merging: Merging,
    found: Mapping[int, int],
) -> float:
    """How often each of a group's accesses is executed in one copy of its block."""
    copies = merging.along(copied[group.members[0]])
    distinct = sum(length * count for length, count in found.items())
    total = sum(planned[member].count for member in group.members)
    return total / (distinct * copies)


def _runs(
    groups: WideGroups,
    group: WideGroup,
    accesses: Sequence[Access],
    copied: Mask,
    chosen: Sequence[Coarsening],
    merging: Merging,
) -> Counter[int]:
    """How many runs of each length there are: in accesses, 1 for those that are left as they are."""
    offsets: defaultdict[tuple[int, ...], set[int]] = defaultdict(set)
    ranges = [range(1 if is_copied else factor) for factor, is_copied in zip(merging.factors, copied, strict=True)]
    for member in group.members:
        access = accesses[member]
        steps = [groups.step(member, coarsening) for coarsening in chosen]
        for ks in itertools.product(*ranges):
            apart = tuple(k if step is None else 0 for k, step in zip(ks, steps, strict=True))
            along = sum(k * step for k, step in zip(ks, steps, strict=True) if step is not None)
            offsets[apart].add(access.form.constant_part + along)
    step = accesses[group.members[0]].access_bytes
    found: Counter[int] = Counter()
    for places in offsets.values():
        for run in without_gaps(sorted(places), step):
            lengths = [len(piece) for piece in split_run(run, group.elements)]
            found.update(lengths)
            found[1] += len(run) - sum(lengths)
    return found


def _vectors(like: AccessCount, found: Mapping[int, int], times: float) -> Iterator[AccessCount]:
    for length, count in sorted(found.items()):
        if count:
            gap = like.bytes * length if count > 1 else None
            yield replace(like, bytes=like.bytes * length, count=times * count, replica_stride=gap)


def _address(kernel: Kernel, access: Instruction, uses: Mapping[str, int]) -> Counter[InstructionClass]:
    """The instructions that compute an access's address and nothing else, from the last on."""
    found: Counter[InstructionClass] = Counter()
    value = access.operands[-1]
    while value.kind is ValueKind.INSTRUCTION and uses[value.text] == 1:
        instruction = kernel.definition[value.text]
        if instruction.opcode == "getelementptr":
            found[InstructionClass.INTEGER] += 1
        elif instruction.opcode in ("sext", "zext"):
            found[InstructionClass.CONVERSION] += 1
        else:
            break
        value = instruction.operands[-1]
    return found
