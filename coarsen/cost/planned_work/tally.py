"""Counts a kernel under a plan (`layout.py`) at a launch, for any factors and strides."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from coarsen.cost.instruction_kinds import instruction_classes
from coarsen.cost.planned_work.copies import Mask, Merging
from coarsen.cost.planned_work.families import Place
from coarsen.cost.planned_work.layout import Classes, Layout
from coarsen.cost.planned_work.wide import Widening
from coarsen.cost.work_counts import InstructionClass
from coarsen.cost.work_functions import AccessFunction, OriginalLaunch

Weights = Mapping[InstructionClass, float]


@dataclass(frozen=True)
class Tally:
    """A kernel under a plan at a launch.

    Attributes:
        layout: the kernel under the plan.
        launch: before coarsening.
        is_shared: whether replicas that compute the same are one.
    """

    layout: Layout
    launch: OriginalLaunch
    is_shared: bool

    def copies_of_shared(self, merging: Merging) -> Mapping[str, int]:
        """Return how many copies there are of what replicas may share."""
        return self.layout.copies.of_members(merging) if self.is_shared else {}

    def instructions(self, merging: Merging, copies: Mapping[str, int]) -> dict[InstructionClass, float]:
        """Return the instructions besides accesses that a coarsened work-item executes, ids at its start apart.

        Args:
            merging: the factors and strides.
            copies: of what replicas share.
        """
        found: defaultdict[InstructionClass, float] = defaultdict(float)
        for mask, weights in self._by_mask.items():
            _add(found, weights, merging.along(mask))
        for each in self.layout.shared:
            _add(found, each.classes, self.launch.times[each.block] * copies[each.name])
        for axis, mask, weights, once in self._additions:
            times = merging.along(mask)
            _add(found, weights, times * (merging.factors[axis] - 1))
            _add(found, once, times)
        return dict(found)

    def copies_of_access(self, access: AccessFunction, merging: Merging, copies: Mapping[str, int]) -> int:
        """Return how many copies of an access there are."""
        instruction, block = access.access.instruction, access.access.block
        if self.is_shared and instruction.name in copies:
            return copies[instruction.name]
        return merging.along(self.layout.copies.mask(block, instruction, is_shared=self.is_shared))

    def needless(
        self, merging: Merging, copies: Mapping[str, int], widening: Widening
    ) -> Mapping[InstructionClass, float]:
        """Return the instructions that computed addresses which vector accesses don't need.

        Args:
            merging: the factors and strides.
            copies: of what replicas share.
            widening: the vector accesses.
        """
        found: defaultdict[InstructionClass, float] = defaultdict(float)
        kernel = self.layout.planned[0].analysed.kernel
        seen: set[Place] = set()
        for name, accesses in widening.groups.addresses.items():
            if name in self.layout.copies.roots and not self.layout.copies.is_counted_from(name, seen):
                continue
            instruction, block = kernel.definition[name], kernel.block_of[name]
            mask = self.layout.copies.mask(block, instruction, is_shared=self.is_shared)
            needed = widening.needed(accesses, mask)
            if needed is None:
                continue
            is_root = name in self.layout.copies.roots
            there = merging.along(mask) if is_root else copies.get(name, merging.along(mask))
            # Of an id the first is computed, others are counted from there.
            classes = {InstructionClass.INTEGER: 1} if is_root else dict(instruction_classes(instruction))
            _add(found, classes, self.launch.times[block] * max(0, there - max(needed, int(is_root))))
        return found

    def chains(self, merging: Merging) -> tuple[float, float]:
        """Return the operations and the accesses of the longest chain: copies in a row wait for each other."""
        operations = accesses = 0.0
        for block, mask, own_operations, own_accesses in self.layout.depths:
            times = self.launch.times[block] * merging.along(mask)
            operations += times * own_operations
            accesses += times * own_accesses
        return operations, accesses

    def tests(self, merging: Merging) -> float:
        """Return the executed instructions that test whether replicas agree."""
        found: defaultdict[InstructionClass, float] = defaultdict(float)
        for axis, mask, weights, once in self._weighted_additions(only_tests=True):
            _add(found, weights, merging.along(mask) * (merging.factors[axis] - 1))
            _add(found, once, merging.along(mask))
        return sum(found.values())

    def copied(self, merging: Merging) -> float:
        """Return the executed instructions of blocks that are copied, accesses apart."""
        return sum(
            self.launch.times[part.block] * sum(part.classes.values()) * merging.along(part.mask)
            for part in self.layout.parts
            if any(self.layout.copies.copied(part.block))
        )

    def parting(self) -> float:
        """Return the executed instructions of regions in which replicas may part, as one replica executes them."""
        parting = frozenset[str]().union(*(each.plan.diverged for each in self.layout.planned))
        kernel = self.layout.planned[0].analysed.kernel
        blocks = kernel.in_order(parting)
        return sum(self.launch.times[block.name] * len(block.instructions) for block in blocks)

    def barriers(self, merging: Merging) -> float:
        """Return how often a work-item waits."""
        return sum(
            self.launch.times[part.block] * part.barriers * merging.along(part.mask)
            for part in self.layout.parts
            if part.barriers
        )

    def length(self, merging: Merging, copies: Mapping[str, int]) -> float:
        """Return how many instructions stand in the kernel, second bodies and ids apart."""
        own = sum(part.length * merging.along(part.mask) for part in self.layout.parts)
        added = sum(
            merging.along(each.mask) * (merging.factors[each.axis] - 1) * sum(each.classes.values())
            for each in self.layout.additions
        )
        return own + added + sum(copies.values())

    @cached_property
    def _by_mask(self) -> Mapping[Mask, Weights]:
        found: dict[Mask, defaultdict[InstructionClass, float]] = {}
        for part in self.layout.parts:
            _add(found.setdefault(part.mask, defaultdict(float)), part.classes, self.launch.times[part.block])
        return found

    @cached_property
    def _additions(self) -> Sequence[tuple[int, Mask, Weights, Weights]]:
        return list(self._weighted_additions(only_tests=False))

    def _weighted_additions(self, *, only_tests: bool) -> Iterator[tuple[int, Mask, Weights, Weights]]:
        for each in self.layout.additions:
            if each.is_test or not only_tests:
                times = self.launch.times[each.block] * self.launch.share(each.share)
                yield each.axis, each.mask, _times(each.classes, times), _times(each.once, times)


def _times(classes: Classes, times: float) -> Weights:
    return {kind: count * times for kind, count in classes.items()}


def _add(
    found: defaultdict[InstructionClass, float], weights: Mapping[InstructionClass, float], times: float
) -> None:
    for kind, count in weights.items():
        found[kind] += count * times
