"""The work of one configuration, put together, and what its plan adds to the merged work."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

from coarsen.analysis.algebra.affine import Access
from coarsen.cost.instruction_kinds import access_class, instruction_classes
from coarsen.cost.planned_work.copies import Mask, along
from coarsen.cost.planned_work.families import Place
from coarsen.cost.planned_work.layout import Addition, Classes, Layout
from coarsen.cost.planned_work.wide import WideGroups, Widening
from coarsen.cost.work_counts import AccessCount, InstructionClass, WorkCounts
from coarsen.cost.work_functions import AccessFunction, OriginalLaunch
from coarsen.ir.graph.instruction import Instruction
from coarsen.transform.regions.plan import PlannedRegion, Treatment
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.variant import Variant

Weights = Mapping[InstructionClass, float]


@dataclass(frozen=True)
class Tally:
    """A kernel under a plan at a launch, for any factors and strides.

    Attributes:
        layout: the kernel under the plan.
        launch: before coarsening.
    """

    layout: Layout
    launch: OriginalLaunch

    @cached_property
    def by_mask(self) -> Mapping[Mask, Weights]:
        """The executed instructions that share nothing, by the axes along which they stand for each replica."""
        found: dict[Mask, defaultdict[InstructionClass, float]] = {}
        for part in self.layout.parts:
            _add(found.setdefault(part.mask, defaultdict(float)), part.classes, self.launch.times[part.block])
        return found

    @cached_property
    def additions(self) -> Sequence[tuple[Addition, Weights, Weights]]:
        """Return what the plan adds, with how much of it is executed: for each replica but one, and once."""
        times = [self.launch.times[each.block] * self.launch.share(each.share) for each in self.layout.additions]
        return [
            (each, _times(each.classes, count), _times(each.once, count))
            for each, count in zip(self.layout.additions, times, strict=True)
        ]


def _times(classes: Classes, times: float) -> Weights:
    return {kind: count * times for kind, count in classes.items()}


def _add(
    found: defaultdict[InstructionClass, float], weights: Mapping[InstructionClass, float], times: float
) -> None:
    for kind, count in weights.items():
        found[kind] += count * times


@dataclass(frozen=True)
class Counting:
    """A configuration at a launch.

    Attributes:
        tally: the kernel under the plan.
        variant: the configuration.
        prologues: the instructions at the kernel's start, for each coarsening.
        groups: the accesses that may become vector accesses; None where they are left as they are.
    """

    tally: Tally
    variant: Variant
    prologues: Sequence[Mapping[InstructionClass, int]]
    groups: WideGroups | None

    def work(self, live_words: int, local_bytes: int) -> WorkCounts:
        """Return the work of a coarsened work-item.

        Args:
            live_words: 32-bit registers that it needs.
            local_bytes: local memory of its group, arguments apart.
        """
        operations, accesses = self.chains
        original = self.tally.launch.work
        return WorkCounts(
            instructions=MappingProxyType(self.instructions),
            accesses=self.accesses,
            barriers=self.barriers,
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
        return self.tally.layout.copies.of_members(self.variant.coarsenings) if self.tally.layout.is_shared else {}

    @cached_property
    def instructions(self) -> dict[InstructionClass, float]:
        """The executed instructions by class."""
        found = self._executed()
        for added in (*self.prologues, self._guards):
            for kind, count in added.items():
                found[kind] = found.get(kind, 0.0) + count
        for access in self.accesses:
            kind = access_class(access.address_space)
            found[kind] = found.get(kind, 0.0) + access.count
        if self._widening is not None:
            needless = self._needless(self._widening)
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
        copied = [self.tally.layout.copies.copied(each.access.block) for each, _ in self._planned]
        return Widening(self.groups, [count for _, count in self._planned], copied, self.variant.coarsenings)

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
                saved += count.count * (self._along(mask) - self.copies[each.access.instruction.name])
        return saved

    @cached_property
    def tests(self) -> float:
        """The executed instructions that test whether replicas agree, guards included."""
        found: defaultdict[InstructionClass, float] = defaultdict(float)
        for added, weights, once in self.tally.additions:
            if added.is_test:
                self._add_addition(found, added, weights, once)
        return sum(found.values()) + sum(self._guards.values())

    @cached_property
    def _planned(self) -> list[tuple[AccessFunction, AccessCount]]:
        launch = self.tally.launch
        chosen = self.variant.coarsenings
        found: list[tuple[AccessFunction, AccessCount]] = []
        for each, count in zip(launch.counted.functions.accesses, launch.work.accesses, strict=True):
            copies = self._copies_of(each)
            is_copied = any(self.tally.layout.copies.copied(each.access.block))
            found.append((each, planned_access(count, each.access, copies, chosen, is_copied=is_copied)))
        return found

    def _executed(self) -> dict[InstructionClass, float]:
        """Count the executed instructions besides accesses, ids at the start and guards."""
        found: defaultdict[InstructionClass, float] = defaultdict(float)
        for mask, weights in self.tally.by_mask.items():
            _add(found, weights, self._along(mask))
        for name, block, classes in self.tally.layout.shared:
            _add(found, classes, self.tally.launch.times[block] * self.copies[name])
        for added, weights, once in self.tally.additions:
            self._add_addition(found, added, weights, once)
        return dict(found)

    def _add_addition(
        self, found: defaultdict[InstructionClass, float], added: Addition, weights: Weights, once: Weights
    ) -> None:
        times = self._along(added.mask)
        _add(found, weights, times * (self.variant.coarsenings[added.axis].factor - 1))
        _add(found, once, times)

    def _copies_of(self, access: AccessFunction) -> int:
        """Return how many copies of an access there are."""
        instruction, block = access.access.instruction, access.access.block
        if self.tally.layout.is_shared and instruction.name in self.copies:
            return self.copies[instruction.name]
        return self._along(self._mask(block, instruction))

    def _along(self, mask: Mask) -> int:
        return along(self.variant.coarsenings, mask)

    def _mask(self, block: str, instruction: Instruction) -> Mask:
        return self.tally.layout.copies.mask(block, instruction, is_shared=self.tally.layout.is_shared)

    def _needless(self, widening: Widening) -> Mapping[InstructionClass, float]:
        """Return the instructions that computed addresses which vector accesses don't need."""
        found: defaultdict[InstructionClass, float] = defaultdict(float)
        kernel = self.tally.layout.planned[0].plan.kernel
        seen: set[Place] = set()
        for name, accesses in widening.groups.addresses.items():
            if name in self.tally.layout.copies.roots and not self.tally.layout.copies.is_counted_from(name, seen):
                continue
            instruction, block = kernel.definition[name], kernel.block_of[name]
            mask = self._mask(block, instruction)
            needed = widening.needed(accesses, mask)
            if needed is None:
                continue
            is_root = name in self.tally.layout.copies.roots
            there = self._along(mask) if is_root else self.copies.get(name, self._along(mask))
            # Of an id the first is computed, others are counted from there.
            classes = {InstructionClass.INTEGER: 1} if is_root else dict(instruction_classes(instruction))
            _add(found, classes, self.tally.launch.times[block] * max(0, there - max(needed, int(is_root))))
        return found

    @cached_property
    def chains(self) -> tuple[float, float]:
        """The operations and the accesses of the longest chain: copies in a row wait for each other."""
        operations = accesses = 0.0
        for block, mask, own_operations, own_accesses in self.tally.layout.depths:
            times = self.tally.launch.times[block] * self._along(mask)
            operations += times * own_operations
            accesses += times * own_accesses
        return operations, accesses

    @property
    def copied(self) -> float:
        """The executed instructions of blocks that are copied, accesses apart."""
        return sum(
            self.tally.launch.times[part.block] * sum(part.classes.values()) * self._along(part.mask)
            for part in self.tally.layout.parts
            if any(self.tally.layout.copies.copied(part.block))
        )

    @property
    def diverged(self) -> float:
        """The executed instructions of regions in which replicas may part, as one replica executes them."""
        diverged = frozenset[str]().union(*(each.plan.diverged for each in self.tally.layout.planned))
        kernel = self.tally.layout.planned[0].plan.kernel
        blocks = kernel.in_order(diverged)
        return sum(self.tally.launch.times[block.name] * len(block.instructions) for block in blocks)

    @property
    def barriers(self) -> float:
        """Return how often a work-item waits."""
        return sum(
            self.tally.launch.times[part.block] * part.barriers * self._along(part.mask)
            for part in self.tally.layout.parts
            if part.barriers
        )

    @property
    def length(self) -> float:
        """Return how many instructions stand in the kernel, second bodies and ids apart."""
        own = sum(part.length * self._along(part.mask) for part in self.tally.layout.parts)
        added = sum(
            self._along(each.mask) * (self.variant.coarsenings[each.axis].factor - 1) * sum(each.classes.values())
            for each in self.tally.layout.additions
        )
        return own + added + sum(self.copies.values())

    @cached_property
    def _guards(self) -> dict[InstructionClass, float]:
        """Count what guards around the kernel add: positions, tests of each replica and of agreement, branches."""
        integer = control = 0
        if self.variant.any_size:
            guarded = self.tally.layout.copies.guarded
            for each, is_copied in zip(self.variant.coarsenings, guarded, strict=True):
                integer += 2 * each.factor if is_copied else 3 * each.factor - 1
                control += 2 * each.factor if is_copied else 1
        return {InstructionClass.INTEGER: float(integer), InstructionClass.CONTROL: float(control)}


def planned_access(
    original: AccessCount, access: Access, copies: float, chosen: Sequence[Coarsening], *, is_copied: bool
) -> AccessCount:
    """Return an access as a coarsened work-item makes it; all of its copies are counted together.

    Args:
        original: the access at the launch before coarsening.
        access: where it goes.
        copies: how many there are.
        chosen: the coarsenings.
        is_copied: whether its copies stand in blocks of their own, so that they are no neighbours.
    """
    gaps = [] if is_copied or copies == 1 else list(_gaps(access, chosen))
    if original.replica_stride is not None:
        gaps.append(original.replica_stride)
    return replace(
        original,
        count=original.count * copies,
        lane_stride=_lane_stride(original.lane_stride, chosen),
        replica_stride=min(gaps, default=None),
    )


def _gaps(access: Access, chosen: Sequence[Coarsening]) -> Iterator[int]:
    """Yield the distances between accesses of neighbouring replicas of merged work-items that are numbers."""
    for coarsening in chosen:
        stride = access.strides[coarsening.dimension]
        if coarsening.level is Level.ITEM and isinstance(stride, int) and stride:
            yield abs(stride) * coarsening.stride


def _lane_stride(stride: int | None, chosen: Sequence[Coarsening]) -> int | None:
    """Return the distance of neighbours along dimension 0: at stride 1 merged work-items are between them."""
    if stride is None:
        return None
    for coarsening in chosen:
        if coarsening.level is Level.ITEM and coarsening.dimension == 0 and coarsening.stride == 1:
            stride *= coarsening.factor
    return stride


@dataclass(frozen=True, slots=True)
class PlanCosts:
    """Costs and savings of the transforms of a configuration.

    Attributes:
        code_size: instructions that stand in the coarsened kernel, each once however often it runs.
        code_growth: code size over that of the original kernel.
        copied_share: the share of executed instructions that stand in copies one after the other.
        copied_regions: divergent regions that are copied.
        fast_paths: regions with a fast path.
        lock_step_loops: loops in lock-step.
        tests: executed instructions that test whether the replicas agree, or keep surplus work-items out.
        parting: the share of executed instructions that a second body holds: what is executed again if the
            replicas part; known to be rare where the branches compare positions.
        second_bodies: instructions that stand in slow paths.
        uncertain: regions with a fast path or in lock-step of which nothing says that the replicas agree.
        merged_loads: executed loads that are saved since several replicas load the same.
        wide_accesses: executed accesses that are saved by vector accesses.
        barriers: that a work-item waits at.
        live_words: 32-bit registers that a work-item needs.
        local_bytes: local memory of a group, arguments apart.
        own_local_arguments: arguments in local memory of which each merged group has its own.
    """

    code_size: float
    code_growth: float
    copied_share: float
    copied_regions: int
    fast_paths: int
    lock_step_loops: int
    tests: float
    parting: float
    second_bodies: float
    uncertain: int
    merged_loads: float
    wide_accesses: float
    barriers: float
    live_words: int
    local_bytes: int
    own_local_arguments: int


def plan_costs(
    counting: Counting | None, work: WorkCounts, original: OriginalLaunch, own_local_arguments: int
) -> PlanCosts:
    """Return the costs of a plan.

    Args:
        counting: the configuration at its launch; None for the original kernel.
        work: of the configuration.
        original: the launch before coarsening.
        own_local_arguments: arguments in local memory of which each merged group has its own.
    """
    if counting is None:
        nothing = (0.0, 0, 0, 0, 0.0, 0.0, 0.0, 0, 0.0, 0.0)
        return PlanCosts(original.length, 1.0, *nothing, work.barriers, work.live_words, work.local_bytes, 0)
    layout = counting.tally.layout
    treated = [region for each in layout.planned for region in each.plan.all()]
    second = float(sum(each.plan.second_bodies for each in layout.planned))
    written = counting.length + second
    total = max(1.0, sum(work.instructions.values()))
    return PlanCosts(
        code_size=written,
        code_growth=written / original.length,
        copied_share=min(1.0, counting.copied / total),
        copied_regions=_treated(treated, Treatment.COPIES),
        fast_paths=_treated(treated, Treatment.FAST_PATH),
        lock_step_loops=_treated(treated, Treatment.LOCK_STEP),
        tests=counting.tests,
        parting=min(1.0, counting.diverged / total),
        second_bodies=second,
        uncertain=layout.uncertain,
        merged_loads=counting.merged_loads,
        wide_accesses=counting.unmerged - sum(access.count for access in work.accesses),
        barriers=work.barriers,
        live_words=work.live_words,
        local_bytes=work.local_bytes,
        own_local_arguments=own_local_arguments,
    )


def _treated(regions: list[PlannedRegion], treatment: Treatment) -> int:
    return sum(region.treatment is treatment for region in regions)
