"""The layout of a kernel that is coarsened along some axes under a plan, before factors and strides are known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coarsen.analysis.branch_shares import BranchShares
from coarsen.analysis.expressions import ONE, Expression, difference
from coarsen.cost.block_profile import dependence_depth
from coarsen.cost.instruction_kinds import Kind, instruction_classes, kinds_of
from coarsen.cost.planned_work.axes import PlannedAxis
from coarsen.cost.planned_work.copies import Copies, Mask
from coarsen.cost.planned_work.families import ShiftedValues
from coarsen.cost.work_counts import InstructionClass
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.transform.regions.plan import PlannedRegion, Treatment
from coarsen.transform.regions.plan_regions import is_agreement_likely

Classes = Counter[InstructionClass]


@dataclass(frozen=True)
class Part:
    """Instructions of a block that stand equally often.

    Attributes:
        block: that they stand in.
        mask: the axes along which each stands once for each replica.
        classes: what they do besides accesses to memory.
        length: how many there are, of any class.
        barriers: among them.
    """

    block: str
    mask: Mask
    classes: Classes
    length: int
    barriers: int


@dataclass(frozen=True)
class Addition:
    """Instructions that the replicas' coming together, or their copies, need.

    Attributes:
        block: as often as this block runs,
        share: and of that this share; None for all, also where nobody knows.
        axis: they stand once for each replica but one along this axis,
        mask: once for each replica along these,
        classes: or, for `once`, that many at once.
        once: instructions that stand once whatever the factor.
        is_test: whether they test if replicas agree.
    """

    block: str
    axis: int
    mask: Mask
    classes: Classes
    once: Classes
    share: Expression | None = None
    is_test: bool = False


class Layout:
    """A kernel under a plan.

    Attributes:
        copies: how often its instructions stand.
        planned: what is done along each axis.
        is_shared: whether replicas that compute the same are one.
        parts: instructions that share nothing.
        shared: those that may compute what others compute, no accesses to memory: names, blocks, what they do.
        additions: what the plan adds.
        depths: the longest chains of its blocks: operations and accesses, with the axes they are copied along.
        uncertain: regions in which nothing says that the replicas agree.

    Args:
        values: the kernel's values along the axes.
        planned: what is done along each of them.
        guarded: the axes along which all is copied.
        shares: of its branches.
        is_shared: whether replicas that compute the same are one.
    """

    def __init__(
        self,
        values: ShiftedValues,
        planned: Sequence[PlannedAxis],
        guarded: Mask,
        shares: BranchShares,
        *,
        is_shared: bool,
    ) -> None:
        self.copies = copies = Copies(values, planned, guarded)
        self.planned, self.is_shared = tuple(planned), is_shared
        reached = [values.kernel.block[name] for name in values.flow.reverse_postorder]
        members = copies.members.keys() - values.roots if is_shared else ()
        self.parts = [part for block in reached for part in _parts(block, values, copies, is_shared=is_shared)]
        shared = [(i, block.name) for block in reached for i in block.instructions if i.name in members]
        self.shared = [
            (i.name, block, classes) for i, block in shared if (classes := Counter(dict(instruction_classes(i))))
        ]
        self.additions = list(_additions(planned, copies, shares))
        self.depths = [(b.name, copies.copied(b.name), *dependence_depth(b.instructions)) for b in reached]
        self.uncertain = sum(
            not all(is_agreement_likely(each.plan.divergence, block) for block in region.branches)
            for each in planned
            for region in each.plan.interleaved
            if region.treatment is not Treatment.COPIES
        )


def _parts(block: Block, values: ShiftedValues, copies: Copies, *, is_shared: bool) -> Iterator[Part]:
    by_mask: dict[Mask, list[Instruction]] = {}
    for instruction in block.instructions:
        if instruction.name in values.roots or (is_shared and instruction.name in copies.members):
            continue
        by_mask.setdefault(copies.mask(block.name, instruction, is_shared=is_shared), []).append(instruction)
    for mask, instructions in by_mask.items():
        classes = Classes()
        for instruction in instructions:
            classes.update(dict(instruction_classes(instruction)))
        barriers = sum(Kind.BARRIER in kinds_of(instruction) for instruction in instructions)
        yield Part(block.name, mask, classes, len(instructions), barriers)


def _additions(planned: Sequence[PlannedAxis], copies: Copies, shares: BranchShares) -> Iterator[Addition]:
    control, test = Classes({InstructionClass.CONTROL: 1}), Classes({InstructionClass.INTEGER: 1})
    for axis, each in enumerate(planned):
        if copies.guarded[axis]:
            continue
        for region in each.copied_regions():
            if not _is_inside(region, each):
                yield Addition(region.region.head, axis, copies.copied(region.region.head), control, Classes())
        for region in each.plan.interleaved:
            for block in sorted(region.branches):
                mask = copies.copied(block)
                yield Addition(block, axis, mask, test, Classes(), is_test=True)
                behind, share = _second_half(each, region, block, shares)
                yield Addition(behind, axis, mask, test, control, share, is_test=True)


def _second_half(
    planned: PlannedAxis, region: PlannedRegion, block: str, shares: BranchShares
) -> tuple[str, Expression | None]:
    """Return how often replicas don't take the first side together: a block's count, or a share of it."""
    flow = planned.plan.divergence.control_flow
    first = region.first_target(flow, block)
    loop = flow.loop_of[block]
    left = [target for target in flow.successors(block) if loop is not None and target not in loop.blocks]
    if left:
        return left[0], None
    condition = shares.of_edge(block, first)
    return block, None if condition is None else difference(ONE, condition.true)


def _is_inside(region: PlannedRegion, planned: PlannedAxis) -> bool:
    """Return True for a region in another one that is copied."""
    return region.region.head in planned.copied and any(
        region.region.blocks < other.region.blocks for other in planned.copied_regions()
    )
