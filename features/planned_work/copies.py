"""How many copies of each instruction a coarsened kernel executes, found without writing it.

    shared blocks      one for each value that the replicas compute there: those at one place of a family are one
                       (`families.py`), also where another instruction computed them before
    copied blocks      once for each replica
    without clean-up   once, or once for each replica where they differ

Most instructions share nothing: they are as many as the factors' product along the axes in which they differ. The
others are the members of families, for which places are counted.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from coarsen.analysis.uses import Use, uses_of_values
from coarsen.features.planned_work.axes import PlannedAxis
from coarsen.features.planned_work.families import Offset, Place
from coarsen.features.planned_work.shifted_values import ShiftedValues
from coarsen.ir.kernel import Instruction
from coarsen.transform.dominance import Dominance

Mask = tuple[bool, ...]
"""Along which axes something stands once for each replica."""


@dataclass(frozen=True, slots=True)
class Merging:
    """How many replicas are merged along each axis, and how far apart they stand."""

    factors: tuple[int, ...]
    strides: tuple[int, ...]

    def along(self, mask: Mask) -> int:
        """Return the product of the factors along the axes of a mask."""
        return math.prod(factor for factor, is_along in zip(self.factors, mask, strict=True) if is_along)


@dataclass(frozen=True)
class Member:
    """An instruction that may compute what others of its family compute.

    Attributes:
        name: of its result.
        place: of its replica 0.
        steps: from one replica to the next, along each axis.
        copied: the axes along which its block is copied.
        outside: members in shared blocks before it that it may use.
        beside: members in the same copies before it.
        is_load: whether it reads memory: the copies behind the first may find something else there.
    """

    name: str
    place: Place
    steps: tuple[Offset, ...]
    copied: Mask
    outside: tuple[int, ...]
    beside: tuple[int, ...]
    is_load: bool


class Copies:
    """The copies of a kernel's instructions under a plan.

    Attributes:
        guarded: the axes along which all is copied.
        roots: the ids that are computed at the kernel's start.

    Args:
        values: the kernel's values, along the axes.
        planned: what is done along each of them.
        guarded: the axes along which all is copied, as a guard around the kernel has no fast path.
    """

    def __init__(self, values: ShiftedValues, planned: Sequence[PlannedAxis], guarded: Mask) -> None:
        self._values = values
        self._planned = planned
        self.guarded = guarded
        self.roots = values.roots
        self._dominance = Dominance(values.flow)

    def copied(self, block: str) -> Mask:
        """Return along which axes a block is copied."""
        return tuple(
            guarded or block in each.copied for each, guarded in zip(self._planned, self.guarded, strict=True)
        )

    def mask(self, block: str, instruction: Instruction, *, is_shared: bool) -> Mask:
        """Return along which axes an instruction stands once for each replica.

        Args:
            block: that it stands in.
            instruction: of the kernel.
            is_shared: whether replicas that compute the same are one.
        """
        copied = self.copied(block)
        if instruction.targets or instruction.opcode in ("ret", "unreachable"):
            return copied
        if is_shared and instruction.name:
            differs: Sequence[bool] = self._values.families.moves(self._values.place[instruction.name])
        else:
            differs = [each.analysed.divergence.is_divergent(instruction) for each in self._planned]
        return tuple(a or b for a, b in zip(copied, differs, strict=True))

    def is_counted_from(self, root: str, seen: set[Place]) -> bool:
        """Return True for the first of the ids that have the same value, if its replicas are counted from it.

        Args:
            root: the id; one that is only narrowed has no replicas.
            seen: the values of those before; this one's is added.
        """
        uses = self._uses.get(root, ())
        if self._values.kernel.definition[root].opcode == "call" and all(
            use.instruction.name in self.roots for use in uses
        ):
            return False
        place = self._values.place[root]
        is_first = place not in seen
        seen.add(place)
        return is_first

    @cached_property
    def _uses(self) -> Mapping[str, list[Use]]:
        return uses_of_values(self._values.kernel)

    @cached_property
    def members(self) -> Mapping[str, int]:
        """The number of each member, by name."""
        return {member.name: number for number, member in enumerate(self._members)}

    def of_members(self, merging: Merging) -> Mapping[str, int]:
        """Return how many copies of each member there are."""
        return dict(_counted(self._members, merging))

    @cached_property
    def _members(self) -> Sequence[Member]:
        """The members of families that have several, those in shared blocks that others may use included."""
        found: list[Member] = []
        for family in self._families():
            first = len(found)
            for block, name in family:
                found.append(self._member(block, name, found[first:], first, family))
        return found

    def _families(self) -> Iterable[list[tuple[str, str]]]:
        """The instructions of each family with more than one, each with its block, in order of dominance."""
        families: dict[int, list[tuple[str, str]]] = {}
        for block in self._dominance.order:
            for instruction in self._values.kernel.block[block].instructions:
                if instruction.name:
                    families.setdefault(self._values.place[instruction.name].family, []).append(
                        (block, instruction.name)
                    )
        return [family for family in families.values() if len(family) > 1]

    def _member(
        self, block: str, name: str, before: Sequence[Member], first: int, family: Sequence[tuple[str, str]]
    ) -> Member:
        place, copied = self._values.place[name], self.copied(block)
        regions = self._copied_regions(block)
        outside: list[int] = []
        beside: list[int] = []
        for number, other in enumerate(before):
            other_block = family[number][0]
            if not self._dominance.may_use(block, other_block):
                continue
            if self._copied_regions(other_block) == regions:
                beside.append(first + number)
            elif not any(other.copied):
                outside.append(first + number)
        steps = self._values.families.steps(place.family)
        is_load = name in self._values.epoch
        return Member(name, place, steps, copied, tuple(outside), tuple(beside), is_load)

    def _copied_regions(self, block: str) -> tuple[str | None, ...]:
        """The heads of the copied regions that a block is in, along each axis."""
        return tuple(
            next((each.region.head for each in planned.copied_regions() if block in each.region.blocks), None)
            for planned in self._planned
        )


def _counted(members: Sequence[Member], merging: Merging) -> Iterator[tuple[str, int]]:
    """The copies of each member: of its places those at which nothing before it stands."""
    everywhere = [_places(member, merging, frozen=False) for member in members]
    own = [
        _places(member, merging, frozen=True) if any(member.copied) else everywhere[number]
        for number, member in enumerate(members)
    ]
    for number, member in enumerate(members):
        new = set(own[number])
        for other in member.beside:
            new -= own[other]
        copies = merging.along(member.copied)
        known = set().union(*(everywhere[other] for other in member.outside))
        if not known:
            yield member.name, copies * len(new)
        elif member.is_load:
            yield member.name, (copies - 1) * len(new) + len(new - known)
        else:
            shifts = _shifts(member, merging, member.copied)
            yield member.name, sum(len({_sum(place, shift) for place in new} - known) for shift in shifts)


def _places(member: Member, merging: Merging, *, frozen: bool) -> frozenset[Offset]:
    """The places of a member's replicas; of the first copy alone where its copies are frozen."""
    along = tuple(not (frozen and copied) for copied in member.copied)
    return frozenset(_sum(member.place.offset, shift) for shift in _shifts(member, merging, along))


def _shifts(member: Member, merging: Merging, along: Mask) -> list[Offset]:
    """How far apart the replicas along some axes stand."""
    ranges = [
        range(factor) if is_along and (any(step) or member.copied[axis]) else range(1)
        for axis, (factor, is_along, step) in enumerate(zip(merging.factors, along, member.steps, strict=True))
    ]
    return [
        tuple(
            sum(
                k * stride * step[place] for k, stride, step in zip(ks, merging.strides, member.steps, strict=True)
            )
            for place in range(len(ranges))
        )
        for ks in itertools.product(*ranges)
    ]


def _sum(first: Offset, second: Offset) -> Offset:
    return tuple(a + b for a, b in zip(first, second, strict=True))
