"""The number of copies of each instruction that a coarsened kernel executes, found without writing it.

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
from functools import cached_property, lru_cache

from coarsen.cost.planned_work.axes import PlannedAxis
from coarsen.cost.planned_work.families import Offset, Place, ShiftedValues
from coarsen.ir.graph.instruction import Instruction
from coarsen.variant.coarsening import Configuration

Mask = tuple[bool, ...]
"""Along which axes something stands once for each replica."""


def along(chosen: Configuration, mask: Mask) -> int:
    """Return the product of the factors of coarsenings along the axes of a mask."""
    return math.prod(each.factor for each, is_along in zip(chosen, mask, strict=True) if is_along)


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
        self._found: dict[Configuration, Mapping[str, int]] = {}
        self._copied = {
            block: tuple(every or block in each.copied for each, every in zip(planned, guarded, strict=True))
            for block in values.flow.reverse_postorder
        }

    def copied(self, block: str) -> Mask:
        """Return along which axes a block is copied."""
        return self._copied[block]

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
            differs = [each.plan.divergence.is_divergent(instruction) for each in self._planned]
        return tuple(a or b for a, b in zip(copied, differs, strict=True))

    def is_counted_from(self, root: str, seen: set[Place]) -> bool:
        """Return True for the first of the ids that have the same value, if its replicas are counted from it.

        Args:
            root: the id; one that is only narrowed has no replicas.
            seen: the values of those before; this one's is added.
        """
        kernel = self._values.kernel
        is_narrowed = all(user.name in self.roots for user in kernel.users(root))
        if kernel.definition[root].opcode == "call" and is_narrowed:
            return False
        place = self._values.place[root]
        is_first = place not in seen
        seen.add(place)
        return is_first

    @cached_property
    def members(self) -> Mapping[str, int]:
        """The number of each member, by name."""
        return {member.name: number for number, member in enumerate(self._members)}

    def of_members(self, chosen: Configuration) -> Mapping[str, int]:
        """Return how many copies of each member there are."""
        if chosen not in self._found:
            self._found[chosen] = dict(_counted(self._members, chosen))
        return self._found[chosen]

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
        """Return the instructions of each family with several, each with its block, in order of dominance."""
        families: dict[int, list[tuple[str, str]]] = {}
        for block in self._values.flow.reverse_postorder:
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
            if not self._values.flow.may_use(block, other_block):
                continue
            if self._copied_regions(other_block) == regions:
                beside.append(first + number)
            elif not any(other.copied):
                outside.append(first + number)
        steps = self._values.families.steps(place.family)
        is_load = name in self._values.epoch
        return Member(name, place, steps, copied, tuple(outside), tuple(beside), is_load)

    def _copied_regions(self, block: str) -> tuple[str | None, ...]:
        """Return the heads of the copied regions that a block is in, along each axis."""
        return tuple(
            next((each.region.head for each in planned.copied_regions() if block in each.region.blocks), None)
            for planned in self._planned
        )


def _counted(members: Sequence[Member], chosen: Configuration) -> Iterator[tuple[str, int]]:
    """Yield the copies of each member: of its places those at which nothing before it stands."""
    strides, factors = tuple(each.stride for each in chosen), [each.factor for each in chosen]
    everywhere: list[frozenset[Offset]] = []
    own: list[frozenset[Offset]] = []
    for member in members:
        counts = [factor if any(step) else 1 for factor, step in zip(factors, member.steps, strict=True)]
        once = [1 if is_copied else count for count, is_copied in zip(counts, member.copied, strict=True)]
        everywhere.append(_places(member, _shifts(strides, member.steps, tuple(counts))))
        own.append(
            _places(member, _shifts(strides, member.steps, tuple(once))) if once != counts else everywhere[-1]
        )
    for number, member in enumerate(members):
        new = own[number].difference(*(own[other] for other in member.beside))
        copies = along(chosen, member.copied)
        known = frozenset[Offset]().union(*(everywhere[other] for other in member.outside))
        if not known:
            yield member.name, copies * len(new)
        elif member.is_load:
            yield member.name, (copies - 1) * len(new) + len(new - known)
        else:
            counts = [factor if is_copied else 1 for factor, is_copied in zip(factors, member.copied, strict=True)]
            apart = _shifts(strides, member.steps, tuple(counts))
            yield member.name, sum(len({_sum(place, shift) for place in new} - known) for shift in apart)


def _places(member: Member, shifts: Sequence[Offset]) -> frozenset[Offset]:
    """Return the places of a member's replicas."""
    if not any(member.place.offset):
        return frozenset(shifts)
    return frozenset(_sum(member.place.offset, shift) for shift in shifts)


@lru_cache(maxsize=4096)
def _shifts(strides: Offset, steps: tuple[Offset, ...], counts: tuple[int, ...]) -> tuple[Offset, ...]:
    """Return the distances between replicas, by the steps from one to the next and how many there are."""
    if len(steps) == 1:
        return tuple((k * strides[0] * steps[0][0],) for k in range(counts[0]))
    found: list[Offset] = []
    for ks in itertools.product(*map(range, counts)):
        moved = [(k * stride, step) for k, stride, step in zip(ks, strides, steps, strict=True)]
        found.append(tuple(sum(distance * step[place] for distance, step in moved) for place in range(len(steps))))
    return tuple(found)


def _sum(first: Offset, second: Offset) -> Offset:
    if len(first) == 1:
        return (first[0] + second[0],)
    return tuple(a + b for a, b in zip(first, second, strict=True))
