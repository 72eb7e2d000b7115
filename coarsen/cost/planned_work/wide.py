"""Vector accesses in place of accesses to neighbouring addresses, of the replicas as well as of one work-item.

Where replicas are a size apart, or irregularly, each stands for itself.

The rules are those of `transform/adjacent_accesses.py`: accesses of one block, of one type, at addresses that
differ by numbers, with nothing between them that may touch the same memory.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.analysis.memory_accesses import Aliasing, Touched
from coarsen.cost.planned_work.copies import Mask, along
from coarsen.cost.work_counts import AccessCount
from coarsen.cost.work_functions import AccessFunction
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.kernel import Kernel
from coarsen.transform.adjacent_accesses import is_plain_access, shape_of, split_run, without_gaps
from coarsen.variant.coarsening import Coarsening, Configuration, Level

Replica = tuple[int, ...]
"""The number of a replica along each axis."""
Start = tuple[int, Replica, int]
"""The access that a run starts with, by its place and its replica, and the run's length."""


@dataclass(frozen=True)
class Widening:
    """The merging of a configuration's accesses.

    Attributes:
        groups: the accesses that may be merged.
        planned: the accesses as they are without it.
        copied: the axes along which the block of each is copied.
        chosen: the coarsenings.
    """

    groups: WideGroups
    planned: Sequence[AccessCount]
    copied: Sequence[Mask]
    chosen: Configuration

    @cached_property
    def result(self) -> tuple[AccessCount, ...]:
        """The accesses that are left."""
        merged = frozenset(member for group in self._merged for member in group.members)
        wide = [access for group, starts in self._merged.items() for access in self._vectors(group, starts)]
        return (*(access for place, access in enumerate(self.planned) if place not in merged), *wide)

    def needed(self, accesses: frozenset[int], moves: Mask) -> int | None:
        """Return how many replicas of a value are still needed that is computed for some accesses' addresses.

        Args:
            accesses: their places.
            moves: along which axes the value's replicas differ.

        Returns:
            None where one of the accesses is not merged.
        """
        if not accesses <= self._starts.keys():
            return None
        of_first = {
            tuple(k for k, is_along in zip(replica, moves, strict=True) if is_along)
            for place in accesses
            for replica in self._starts[place]
        }
        copied = tuple(
            any(self.copied[place][axis] for place in accesses) and moves[axis] for axis in range(len(moves))
        )
        return len(of_first) * along(self.chosen, copied)

    @cached_property
    def _starts(self) -> Mapping[int, list[Replica]]:
        """The replicas of each merged access that a run starts with."""
        found: dict[int, list[Replica]] = {place: [] for group in self._merged for place in group.members}
        for starts in self._merged.values():
            for place, replica, _ in starts:
                found[place].append(replica)
        return found

    @cached_property
    def _merged(self) -> Mapping[WideGroup, list[Start]]:
        """The runs of the groups in which something is merged."""
        found = {group: list(self._runs(group)) for group in self.groups.groups}
        merged = {group: runs for group, runs in found.items() if any(length > 1 for *_, length in runs)}
        first = [self.groups.accesses[group.members[0]] for group in merged]
        are_rare_stores = not any(access.is_load or access.block in self.groups.looping for access in first)
        return {} if self.groups.looping and are_rare_stores else merged

    def _runs(self, group: WideGroup) -> Iterator[Start]:
        """Yield the runs of a group in one copy of its block, those of a single access included."""
        step = self.groups.accesses[group.members[0]].access_bytes
        for places in self._offsets(group).values():
            for run in without_gaps(sorted(places), step):
                left = len(run)
                for piece in split_run(run, group.elements):
                    yield (*places[piece[0]], len(piece))
                    left -= len(piece)
                for offset in run[len(run) - left :]:
                    yield (*places[offset], 1)

    def _offsets(self, group: WideGroup) -> Mapping[Replica, dict[int, tuple[int, Replica]]]:
        """Return where a group's replicas access, those together whose distance is a number."""
        offsets: defaultdict[Replica, dict[int, tuple[int, Replica]]] = defaultdict(dict)
        copied = self.copied[group.members[0]]
        ranges = [range(1 if c else each.factor) for each, c in zip(self.chosen, copied, strict=True)]
        for member in group.members:
            steps = [self.groups.step(member, coarsening) for coarsening in self.chosen]
            start = self.groups.accesses[member].form.constant_part
            for replica in itertools.product(*ranges):
                apart = tuple(0 if step is not None else k for k, step in zip(replica, steps, strict=True))
                along = sum(k * step for k, step in zip(replica, steps, strict=True) if step is not None)
                offsets[apart].setdefault(start + along, (member, replica))
        return offsets

    def _vectors(self, group: WideGroup, starts: Sequence[Start]) -> Iterator[AccessCount]:
        like = self.planned[group.members[0]]
        total = sum(self.planned[member].count for member in group.members)
        times = total / sum(length for *_, length in starts)
        for length in sorted({length for *_, length in starts}):
            count = sum(each == length for *_, each in starts)
            gap = like.bytes * length if count > 1 else None
            yield replace(like, bytes=like.bytes * length, count=times * count, replica_stride=gap)


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


class WideGroups:
    """The accesses of a kernel that may become vector accesses.

    Attributes:
        accesses: all of the kernel.
        groups: of them.
        looping: the kernel's blocks in loops; empty for one without loops.
        addresses: the accesses that a value is computed for, by name, of those that nothing else uses.

    Args:
        forms: of the kernel's indices.
        accesses: of the kernel.
    """

    def __init__(self, forms: IndexForms, accesses: Sequence[AccessFunction]) -> None:
        self._forms = forms
        self._aliasing = Aliasing(forms.kernel)
        self.looping = frozenset[str]().union(*(loop.blocks for loop in forms.control_flow.loops))
        self.accesses = [each.access for each in accesses]
        self._place = {id(access.instruction): place for place, access in enumerate(self.accesses)}
        self.groups = tuple(group for block in forms.kernel.blocks for group in self._of_block(block))
        self.addresses = _addresses(forms.kernel, self._place)

    def step(self, member: int, coarsening: Coarsening) -> int | None:
        """Return the bytes from one replica of an access to the next, None where that isn't a number for sure."""
        access = self.accesses[member]
        stride = access.strides[coarsening.dimension]
        if stride == 0:
            return 0
        if coarsening.level is Level.GROUP or not isinstance(stride, int):
            return None
        # A part of the address that is no sum moves as it does only nearly always.
        symbols = self._forms.symbols
        pieces = (symbols.piece(name) for name in access.form.symbols)
        is_moving = any(
            piece is not None and symbols.is_divergent(piece.instruction, coarsening.dimension) for piece in pieces
        )
        return None if is_moving else stride * coarsening.stride

    def _of_block(self, block: Block) -> Iterator[WideGroup]:
        found: dict[tuple[_GroupKey, int], list[int]] = {}
        times: Counter[Touched] = Counter()
        for instruction in block.instructions:
            key = self._key(instruction)
            own = None
            if key is not None:
                own = self._aliasing.place(instruction.operands[-1]), instruction.opcode == "load"
                times.setdefault(own, 0)
            for place in self._aliasing.conflicting(instruction, times):
                times[place] += place != own
            if key is not None and own is not None:
                found.setdefault((key, times[own]), []).append(self._place[id(instruction)])
        for members in found.values():
            access = self.accesses[members[0]].instruction
            type_ = access.type if access.opcode == "load" else access.operands[0].type
            yield WideGroup(tuple(members), shape_of(type_)[1])

    def _key(self, instruction: Instruction) -> _GroupKey | None:
        """Return what only neighbours of an access have in common with it; None for one that is never merged."""
        place = self._place.get(id(instruction))
        if place is None or not is_plain_access(instruction):
            return None
        access = self.accesses[place]
        if access.base is None:
            return None
        type_ = instruction.type if access.is_load else instruction.operands[0].type
        rest = frozenset(term for term in access.form.terms.items() if term[0])
        return access.base.text, access.is_load, type_, rest


def _addresses(kernel: Kernel, place: Mapping[int, int]) -> dict[str, frozenset[int]]:
    """Return the accesses that each value is computed for, of the values that only addresses are computed from."""
    found: dict[str, frozenset[int] | None] = {}

    def accesses_of(name: str) -> frozenset[int] | None:
        if name not in found:
            found[name] = None  # for what depends on itself
            parts = [used_for(user, name) for user in kernel.users(name)]
            known = [part for part in parts if part is not None]
            found[name] = frozenset[int]().union(*known) if len(known) == len(parts) else None
        return found[name]

    def used_for(user: Instruction, name: str) -> frozenset[int] | None:
        if user.opcode in ("load", "store"):
            is_address = all(operand.text != name for operand in user.operands[:-1])
            return frozenset({place[id(user)]}) if is_address and id(user) in place else None
        is_followed = bool(user.name) and user.opcode not in ("phi", "call", "select")
        return accesses_of(user.name) if is_followed else None

    values = {name: accesses_of(name) for name in kernel.definition}
    return {name: accesses for name, accesses in values.items() if accesses}
