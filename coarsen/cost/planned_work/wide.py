"""Vector accesses in place of accesses to neighbouring addresses, of the replicas as well as of one work-item.

Where replicas are a size apart, or irregularly, each stands for itself.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from coarsen.analysis.algebra.affine import Access
from coarsen.cost.planned_work.copies import Mask, Merging
from coarsen.cost.planned_work.wide_groups import WideGroup, WideGroups
from coarsen.cost.work_counts import AccessCount
from coarsen.transform.adjacent_accesses import split_run, without_gaps
from coarsen.variant.coarsening import Configuration

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
        accesses: where they go.
        copied: the axes along which the block of each is copied.
        chosen: the coarsenings.
        merging: their factors and strides.
        looping: the kernel's blocks in loops; empty for one without loops.
    """

    groups: WideGroups
    planned: Sequence[AccessCount]
    accesses: Sequence[Access]
    copied: Sequence[Mask]
    chosen: Configuration
    merging: Merging
    looping: frozenset[str]

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
        return len(of_first) * self.merging.along(copied)

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
        first = [self.accesses[group.members[0]] for group in merged]
        are_rare_stores = not any(access.is_load or access.block in self.looping for access in first)
        return {} if self.looping and are_rare_stores else merged

    def _runs(self, group: WideGroup) -> Iterator[Start]:
        """Yield the runs of a group in one copy of its block, those of a single access included."""
        step = self.accesses[group.members[0]].access_bytes
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
        ranges = [range(1 if c else factor) for factor, c in zip(self.merging.factors, copied, strict=True)]
        for member in group.members:
            steps = [self.groups.step(member, coarsening) for coarsening in self.chosen]
            start = self.accesses[member].form.constant_part
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
