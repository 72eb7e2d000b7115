"""The axes along which a kernel is coarsened, and what each does to the kernel's blocks.

A guard around the body, for launches that a factor does not divide, compares positions: the body is a divergent
region whose replicas agree but at the end of the NDRange. It has a fast path by the rules of any other region
(`transform/regions/plan_regions.py`). A guard of the kernel's own that leads to its end, too, shares that fast
path.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from coarsen.analysis.agreement_tests import side_of_one
from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.legality import check_any_groups, check_legality
from coarsen.errors import RefusalError
from coarsen.ir.kernel import Kernel
from coarsen.transform.coarsen import Analysed, analysed_along
from coarsen.transform.guard import guards_of
from coarsen.transform.regions.plan import PlannedRegion, RegionPlan, Treatment
from coarsen.transform.regions.plan_regions import (
    blocks_before,
    has_barrier,
    is_agreement_likely,
    is_repeatable_before,
    plan_regions,
)
from coarsen.variant.coarsening import DIMENSIONS, Coarsening, Configuration, Level
from coarsen.variant.transforms import DeviceKind, Transforms, Use

_SHORT = 20


@dataclass(frozen=True, slots=True)
class Axis:
    """A dimension of the NDRange and what is merged along it, work-items or whole work-groups."""

    dimension: int
    level: Level

    @staticmethod
    def of(coarsening: Coarsening) -> Axis:
        """Return the axis of a coarsening."""
        return Axis(coarsening.dimension, coarsening.level)


@dataclass(frozen=True)
class PlannedAxis:
    """What is done to a kernel's divergent regions where it is coarsened along one axis."""

    plan: RegionPlan

    @cached_property
    def copied(self) -> frozenset[str]:
        """The blocks that each replica goes through alone."""
        return frozenset[str]().union(*(each.region.blocks for each in self.copied_regions()))

    def copied_regions(self) -> Iterator[PlannedRegion]:
        """Yield the regions that each replica goes through alone.

        They are copies, and what one of the replicas does while the others wait: `if (item == 0) …`.
        """
        divergence = self.plan.divergence
        for planned in self.plan.all():
            head = planned.region.head
            is_of_one = head in divergence.branches and side_of_one(divergence, head) is not None
            if is_of_one or planned.treatment is Treatment.COPIES:
                yield planned


_PlanKey = tuple[Axis, Use, Use, DeviceKind]


class Axes:
    """The axes of a kernel, each analysed when first asked for.

    Args:
        kernel: uncoarsened, in normal form.
        control_flow: of the kernel.

    Raises:
        RefusalError: the kernel can't be coarsened along any axis.
    """

    def __init__(self, kernel: Kernel, control_flow: ControlFlow) -> None:
        check_legality(kernel, control_flow)
        self._kernel = kernel
        self._flow = control_flow
        self._analysed: dict[Axis, Analysed] = {}
        self._planned: dict[_PlanKey, PlannedAxis] = {}

    def analysed(self, axis: Axis) -> Analysed:
        """Return the kernel with its divergence along an axis. Raises RefusalError."""
        if axis not in self._analysed:
            self._analysed[axis] = analysed_along(self._kernel, self._flow, axis.dimension, axis.level)
        return self._analysed[axis]

    def any_of_items(self) -> Analysed:
        """Return the kernel along the first dimension along which its work-items can be merged, else its groups.

        Raises:
            RefusalError: it can't be coarsened along any.
        """
        axes = [Axis(dimension, level) for level in Level for dimension in range(DIMENSIONS)]
        for axis in axes[:-1]:
            with contextlib.suppress(RefusalError):
                return self.analysed(axis)
        return self.analysed(axes[-1])

    def planned(self, axis: Axis, transforms: Transforms) -> PlannedAxis:
        """Return what the transforms do along an axis. Raises RefusalError."""
        key = (axis, transforms.fast_path, transforms.lock_step, transforms.device_kind)
        if key not in self._planned:
            analysed = self.analysed(axis)
            plan = plan_regions(analysed.divergence, analysed.regions, transforms)
            self._planned[key] = PlannedAxis(plan)
        return self._planned[key]


def check_guards(kernel: Kernel, chosen: Configuration) -> None:
    """Raise RefusalError where it matters to a kernel how its work-items are grouped."""
    for dimension, level in guards_of(chosen):
        if level is Level.ITEM:
            check_any_groups(kernel, dimension)


def is_body_copied(planned: PlannedAxis) -> bool:
    """Return True if the guarded body stands once for each replica, without a fast path.

    Args:
        planned: what is done inside of it (`within_guard`).
    """
    use = planned.plan.transforms.fast_path
    if use is not Use.AUTO:
        return use is Use.NEVER
    length = {block.name: len(block.instructions) for block in planned.plan.kernel.blocks}
    is_short = sum(length.values()) < _SHORT and not planned.plan.divergence.control_flow.loops
    return is_short or 2 * sum(length[block] for block in planned.copied) > sum(length.values())


def within_guard(planned: PlannedAxis) -> PlannedAxis:
    """Return what is done along an axis inside of a guard."""
    if planned.plan.transforms.fast_path is Use.NEVER:
        return planned
    regions = tuple(
        replace(region, treatment=Treatment.FAST_PATH, branches=frozenset({region.region.head}), reason=None)
        if _shares_fast_path(planned, region)
        else region
        for region in planned.plan.regions
    )
    return PlannedAxis(replace(planned.plan, regions=regions))


def _shares_fast_path(planned: PlannedAxis, treated: PlannedRegion) -> bool:
    """Return True for copies of a region that starts with a branch to the kernel's end."""
    divergence, region = planned.plan.divergence, treated.region
    if treated.treatment is not Treatment.COPIES or region.head not in divergence.branches:
        return False
    join = divergence.kernel.block[region.join]
    if len(join.instructions) > 1 or join.terminator.targets or has_barrier(divergence, region):
        return False
    flow = divergence.control_flow
    if flow.loop_of[region.head] is not None or not is_agreement_likely(divergence, region.head):
        return False
    everything = frozenset(flow.reverse_postorder)
    return is_repeatable_before(divergence, blocks_before(flow, flow.entry, region.head, everything))
