"""The work of a kernel's configurations, counted from the plan of the transforms.

    kernel ─▶ PlannedKernel ─ .work(variant, launch) ─▶ WorkCounts of a coarsened work-item
                            └ .plan_costs(variant, launch) ─▶ PlanCosts

Everything comes from analyses of the original kernel: how often its blocks run (`analysis/executions.py`), which
of its instructions differ between replicas and which replicas compute the same (`copies.py`), what is done to its
divergent regions (`transform/plan_regions.py`). No coarsened kernel is written. Where the replicas may part, they
are taken to agree. For predictions only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType

from coarsen.analysis.branch_shares import BranchShares
from coarsen.analysis.control_flow import ControlFlow
from coarsen.cost.planned_work.axes import Axes, Axis
from coarsen.cost.planned_work.copies import Mask, Merging
from coarsen.cost.planned_work.costs import PlanCosts, plan_costs
from coarsen.cost.planned_work.counting import Counting
from coarsen.cost.planned_work.group_memory import own_local_arguments, planned_local_bytes
from coarsen.cost.planned_work.guards import check_guards, is_body_copied, within_guard
from coarsen.cost.planned_work.launches import OriginalLaunch, original_sizes
from coarsen.cost.planned_work.layout import Layout, layout
from coarsen.cost.planned_work.pressure import Pressure
from coarsen.cost.planned_work.prologues import Prologues
from coarsen.cost.planned_work.shifted_values import ShiftedValues
from coarsen.cost.planned_work.tally import Tally
from coarsen.cost.planned_work.wide_groups import WideGroups
from coarsen.cost.work_counts import LaunchSizes, WorkCounts
from coarsen.cost.work_functions import counted_kernel
from coarsen.ir.kernel import Kernel
from coarsen.variant.transforms import Transforms
from coarsen.variant.variant import Variant

_AxesKey = tuple[Axis, ...]
_LaunchKey = tuple[LaunchSizes, tuple[tuple[str, int], ...]]


class PlannedKernel:
    """A kernel whose configurations are counted.

    Args:
        kernel: as it was lowered, uncoarsened.

    Raises:
        RefusalError: the kernel can't be coarsened at all.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self._flow = ControlFlow(kernel)
        self._axes = Axes(kernel, self._flow)
        self._counted = counted_kernel(self._axes.any_of_items())
        self._shares = BranchShares(self._counted.counts)
        self._prologues = Prologues(kernel)
        self._pressure = Pressure(self._axes, self._counted.functions.live_words)
        self._values: dict[_AxesKey, ShiftedValues] = {}
        self._layouts: dict[object, Layout] = {}
        self._launches: dict[_LaunchKey, OriginalLaunch] = {}
        self._tallies: dict[object, Tally] = {}

    def work(
        self, variant: Variant, launch: LaunchSizes, arguments: Mapping[str, int] | None = None
    ) -> WorkCounts:
        """Return the work of one work-item of a configuration's launch.

        Args:
            variant: how the kernel is coarsened; its local size, if it has one, goes before the launch's.
            launch: the sizes before coarsening.
            arguments: the values of whole scalar arguments by name, as far as they are known.

        Raises:
            RefusalError: the kernel can't be coarsened so.
            InvalidInputError: the sizes give no finite number of work.
        """
        original = self._launch(variant, launch, arguments or {})
        return self._work(self._counting(variant, original), original)

    def plan_costs(
        self, variant: Variant, launch: LaunchSizes, arguments: Mapping[str, int] | None = None
    ) -> PlanCosts:
        """Return what the plan of a configuration adds and saves. Arguments and errors are those of `work`."""
        return self.work_and_costs(variant, launch, arguments)[1]

    def work_and_costs(
        self, variant: Variant, launch: LaunchSizes, arguments: Mapping[str, int] | None = None
    ) -> tuple[WorkCounts, PlanCosts]:
        """Return both, which is cheaper than one after the other. Arguments and errors are those of `work`."""
        original = self._launch(variant, launch, arguments or {})
        counting = self._counting(variant, original)
        work = self._work(counting, original)
        own = own_local_arguments(self._axes, variant.coarsenings)
        return work, plan_costs(counting, work, original, own)

    def _work(self, counting: Counting | None, original: OriginalLaunch) -> WorkCounts:
        if counting is None:
            return original.work
        variant = counting.variant
        return counting.work(
            live_words=self._pressure.of(variant.coarsenings), local_bytes=self._local_bytes(variant)
        )

    def _counting(self, variant: Variant, original: OriginalLaunch) -> Counting | None:
        """Return the configuration at a launch; None for the original kernel."""
        if not variant.is_coarsened:
            return None
        tally = self._tally(variant, original)
        chosen = variant.coarsenings
        merging = Merging(tuple(each.factor for each in chosen), tuple(each.stride for each in chosen))
        groups = self._wide_groups if variant.transforms.wide_accesses else None
        return Counting(tally, merging, variant, [self._prologues.of(each) for each in chosen], groups)

    @cached_property
    def _wide_groups(self) -> WideGroups:
        return WideGroups(self._counted.counts.forms, self._counted.functions.accesses)

    def _tally(self, variant: Variant, original: OriginalLaunch) -> Tally:
        """Return the kernel under the plan of a configuration, at its launch."""
        axes = tuple(map(Axis.of, variant.coarsenings))
        guards = self._guards(variant, axes)
        # Vector accesses are merged afterwards.
        transforms, is_guarded = replace(variant.transforms, wide_accesses=False), variant.any_size
        key = (axes, guards, is_guarded, transforms)
        whole = (key, original.sizes, tuple(sorted(original.arguments.items())))
        if whole not in self._tallies:
            if key not in self._layouts:
                self._layouts[key] = self._layout(axes, guards, transforms, is_guarded=is_guarded)
            self._tallies[whole] = Tally(self._layouts[key], original, transforms.clean_up)
        return self._tallies[whole]

    def _layout(self, axes: _AxesKey, guards: Mask, transforms: Transforms, *, is_guarded: bool) -> Layout:
        if axes not in self._values:
            analysed = [self._axes.analysed(axis) for axis in axes]
            self._values[axes] = ShiftedValues(self.kernel, self._flow, axes, analysed)
        planned = [self._axes.planned(axis, transforms) for axis in axes]
        if is_guarded:
            planned = [within_guard(each) for each in planned]
        return layout(self._values[axes], planned, guards, self._shares, is_shared=transforms.clean_up)

    def _guards(self, variant: Variant, axes: _AxesKey) -> Mask:
        """Along which axes a guard makes copies of everything."""
        if not variant.any_size:
            return (False,) * len(axes)
        check_guards(self.kernel, variant.coarsenings)
        planned = (self._axes.planned(axis, variant.transforms) for axis in axes)
        return tuple(is_body_copied(within_guard(each)) for each in planned)

    def _launch(self, variant: Variant, launch: LaunchSizes, arguments: Mapping[str, int]) -> OriginalLaunch:
        sizes = original_sizes(variant, launch)
        key = (sizes, tuple(sorted(arguments.items())))
        if key not in self._launches:
            self._launches[key] = OriginalLaunch(self._counted, sizes, MappingProxyType(dict(arguments)))
        return self._launches[key]

    def _local_bytes(self, variant: Variant) -> int:
        alone = self._counted.functions.local_bytes
        return planned_local_bytes(self.kernel, self._axes, variant.coarsenings, alone)
