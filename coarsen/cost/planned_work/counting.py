"""The work of one configuration, put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from coarsen.cost.access_functions import AccessFunction
from coarsen.cost.planned_work.accesses import planned_access
from coarsen.cost.planned_work.copies import Merging
from coarsen.cost.planned_work.tally import Tally
from coarsen.cost.planned_work.wide import Widening
from coarsen.cost.planned_work.wide_groups import WideGroups
from coarsen.cost.work_counts import AccessCount, InstructionClass, WorkCounts
from coarsen.ir.types import AddressSpace
from coarsen.variant.variant import Variant


@dataclass(frozen=True)
class Counting:
    """A configuration at a launch.

    Attributes:
        tally: the kernel under the plan.
        merging: the factors and strides.
        variant: the configuration.
        prologues: the instructions at the kernel's start, for each coarsening.
        groups: the accesses that may become vector accesses; None where they are left as they are.
    """

    tally: Tally
    merging: Merging
    variant: Variant
    prologues: Sequence[Mapping[InstructionClass, int]]
    groups: WideGroups | None

    def work(self, live_words: int, local_bytes: int) -> WorkCounts:
        """Return the work of a coarsened work-item.

        Args:
            live_words: 32-bit registers that it needs.
            local_bytes: local memory of its group, arguments apart.
        """
        operations, accesses = self.tally.chains(self.merging)
        original = self.tally.launch.work
        return WorkCounts(
            instructions=MappingProxyType(self.instructions),
            accesses=self.accesses,
            barriers=self.tally.barriers(self.merging),
            atomics=sum(count.count for each, count in self._planned if each.access.is_atomic),
            local_bytes=local_bytes,
            live_words=live_words,
            chain_operations=operations,
            chain_accesses=accesses,
            unknown=original.unknown,
        )

    @cached_property
    def copies(self) -> Mapping[str, int]:
        """Return the number of copies of what replicas may share."""
        return self.tally.copies_of_shared(self.merging)

    @cached_property
    def instructions(self) -> dict[InstructionClass, float]:
        """The executed instructions by class."""
        found = self.tally.instructions(self.merging, self.copies)
        for added in (*self.prologues, self._guards):
            for kind, count in added.items():
                found[kind] = found.get(kind, 0.0) + count
        for access in self.accesses:
            is_near = access.address_space in (AddressSpace.LOCAL, AddressSpace.PRIVATE)
            kind = InstructionClass.LOCAL_ACCESS if is_near else InstructionClass.GLOBAL_ACCESS
            found[kind] = found.get(kind, 0.0) + access.count
        if self._widening is not None:
            needless = self.tally.needless(self.merging, self.copies, self._widening)
            found.update({kind: max(0.0, found.get(kind, 0.0) - count) for kind, count in needless.items()})
        return {kind: found[kind] for kind in InstructionClass if found.get(kind)}

    @cached_property
    def accesses(self) -> tuple[AccessCount, ...]:
        """The accesses, neighbouring ones merged where that is asked for."""
        return tuple(count for _, count in self._planned) if self._widening is None else self._widening.result

    @cached_property
    def _widening(self) -> Widening | None:
        if self.groups is None:
            return None
        copies, flow = self.tally.layout.copies, self.tally.launch.counted.counts.forms.control_flow
        accesses = [each.access for each, _ in self._planned]
        return Widening(
            self.groups,
            [count for _, count in self._planned],
            accesses,
            [copies.copied(access.block) for access in accesses],
            self.variant.coarsenings,
            self.merging,
            frozenset().union(*(loop.blocks for loop in flow.loops)),
        )

    @cached_property
    def unmerged(self) -> float:
        """The executed accesses before neighbouring ones are merged."""
        return sum(count.count for _, count in self._planned)

    @cached_property
    def merged_loads(self) -> float:
        """The executed loads that are saved since replicas load the same."""
        layout, launch = self.tally.layout, self.tally.launch
        saved = 0.0
        for each, count in zip(launch.counted.functions.accesses, launch.work.accesses, strict=True):
            if each.access.is_load and each.access.instruction.name in self.copies:
                mask = layout.copies.mask(each.access.block, each.access.instruction, is_shared=False)
                saved += count.count * (self.merging.along(mask) - self.copies[each.access.instruction.name])
        return saved

    @cached_property
    def tests(self) -> float:
        """The executed instructions that test whether replicas agree, guards included."""
        return self.tally.tests(self.merging) + sum(self._guards.values())

    @cached_property
    def _planned(self) -> list[tuple[AccessFunction, AccessCount]]:
        launch = self.tally.launch
        chosen = self.variant.coarsenings
        found: list[tuple[AccessFunction, AccessCount]] = []
        for each, count in zip(launch.counted.functions.accesses, launch.work.accesses, strict=True):
            copies = self.tally.copies_of_access(each, self.merging, self.copies)
            is_copied = any(self.tally.layout.copies.copied(each.access.block))
            found.append((each, planned_access(count, each.access, copies, chosen, is_copied=is_copied)))
        return found

    @cached_property
    def _guards(self) -> dict[InstructionClass, float]:
        """Count what guards around the kernel add: positions, tests of each replica and of agreement, branches."""
        integer = control = 0
        if self.variant.any_size:
            for factor, is_copied in zip(self.merging.factors, self.tally.layout.copies.guarded, strict=True):
                integer += 2 * factor if is_copied else 3 * factor - 1
                control += 2 * factor if is_copied else 1
        return {InstructionClass.INTEGER: float(integer), InstructionClass.CONTROL: float(control)}
