"""The work of a kernel's configurations, counted from the plan of the transforms.

    kernel ─▶ PlannedKernel ─ .work(variant, launch) ─▶ WorkCounts of a coarsened work-item
                            └ .work_and_costs(variant, launch) ─▶ PlanCosts of its plan besides

Everything comes from analyses of the original kernel: how often its blocks run (`analysis/executions.py`), which
of its instructions differ between replicas and which replicas compute the same (`copies.py`), what is done to its
divergent regions (`transform/regions/plan_regions.py`). No coarsened kernel is written. Where the replicas may
part, they are taken to agree. For predictions only.

The instructions that compute ids and sizes at the start grow evenly with the factor: they are built at factors 2
and 3 and counted. Along several axes the growths of register pressure multiply.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, cached_property, partial
from types import MappingProxyType

from coarsen.analysis.branch_shares import BranchShares
from coarsen.analysis.control_flow import ControlFlow
from coarsen.cost.block_profile import region_plan
from coarsen.cost.planned_work.axes import Axes, Axis, check_guards, is_body_copied, within_guard
from coarsen.cost.planned_work.copies import Mask
from coarsen.cost.planned_work.counting import Counting, PlanCosts, Tally, plan_costs
from coarsen.cost.planned_work.families import ShiftedValues
from coarsen.cost.planned_work.layout import Layout
from coarsen.cost.planned_work.wide import WideGroups
from coarsen.cost.register_pressure import RegisterPressure
from coarsen.cost.rewritten_ids import rewrite_ids
from coarsen.cost.work_counts import InstructionClass, LaunchSizes, WorkCounts
from coarsen.cost.work_functions import OriginalLaunch, counted_kernel, original_sizes
from coarsen.ir.graph.details import CASTS, Opcode
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import size_of
from coarsen.variant.coarsening import Coarsening, Configuration, Level
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
        self._prologue = cache(partial(_prologue, kernel))
        self._start = cache(self._at_start)
        self._pressure = cache(self._pressure_along)
        self._live = cache(lambda axis, factor: self._pressure(axis).maximum(factor))
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

    def work_and_costs(
        self, variant: Variant, launch: LaunchSizes, arguments: Mapping[str, int] | None = None
    ) -> tuple[WorkCounts, PlanCosts]:
        """Return both, which is cheaper than one after the other. Arguments and errors are those of `work`."""
        original = self._launch(variant, launch, arguments or {})
        counting = self._counting(variant, original)
        work = self._work(counting, original)
        # Arguments in local memory of which each replica has its own.
        own = {name for name, _ in _own_memory(self._axes, variant.coarsenings) if not name.startswith("@")}
        return work, plan_costs(counting, work, original, len(own))

    def _work(self, counting: Counting | None, original: OriginalLaunch) -> WorkCounts:
        if counting is None:
            return original.work
        variant = counting.variant
        return counting.work(
            live_words=self._live_words(variant.coarsenings), local_bytes=self._local_bytes(variant.coarsenings)
        )

    def _counting(self, variant: Variant, original: OriginalLaunch) -> Counting | None:
        """Return the configuration at a launch; None for the original kernel."""
        if not variant.is_coarsened:
            return None
        tally = self._tally(variant, original)
        chosen = variant.coarsenings
        groups = self._wide_groups if variant.transforms.wide_accesses else None
        return Counting(tally, variant, list(map(self._start, chosen)), groups)

    def _at_start(self, coarsening: Coarsening) -> Mapping[InstructionClass, int]:
        """Return the instructions at the kernel's start for one coarsening."""
        near = replace(coarsening, stride=min(coarsening.stride, 2))
        at_two, at_three = (self._prologue(replace(near, factor=factor)) for factor in (2, 3))
        more = coarsening.factor - 2
        return {kind: at_two[kind] + more * (at_three[kind] - at_two[kind]) for kind in at_two | at_three}

    def _pressure_along(self, axis: Axis) -> RegisterPressure:
        return RegisterPressure(region_plan(self._axes.analysed(axis)), rescaled=True)

    def _live_words(self, chosen: Configuration) -> int:
        """Return the words that are live at once: along several axes each multiplies what it is alone."""
        alone = max(1, self._counted.functions.live_words)
        return round(alone * math.prod(self._live(Axis.of(each), each.factor) / alone for each in chosen))

    @cached_property
    def _wide_groups(self) -> WideGroups:
        return WideGroups(self._counted.counts.forms, self._counted.functions.accesses)

    def _tally(self, variant: Variant, original: OriginalLaunch) -> Tally:
        """Return the kernel under the plan of a configuration, at its launch."""
        axes = tuple(map(Axis.of, variant.coarsenings))
        guards = self._guards(variant, axes)
        # Vector accesses are merged afterwards; what a tile saves, and what makes indices long, is not counted.
        used = variant.transforms.without({"tile"})
        transforms = replace(used, wide_accesses=False, long_indices=False)
        is_guarded = variant.any_size
        key = (axes, guards, is_guarded, transforms)
        whole = (key, original.sizes, tuple(sorted(original.arguments.items())))
        if whole not in self._tallies:
            if key not in self._layouts:
                self._layouts[key] = self._layout(axes, guards, transforms, is_guarded=is_guarded)
            self._tallies[whole] = Tally(self._layouts[key], original)
        return self._tallies[whole]

    def _layout(self, axes: _AxesKey, guards: Mask, transforms: Transforms, *, is_guarded: bool) -> Layout:
        if axes not in self._values:
            analysed = [self._axes.analysed(axis) for axis in axes]
            self._values[axes] = ShiftedValues(self.kernel, self._flow, axes, analysed)
        planned = [self._axes.planned(axis, transforms) for axis in axes]
        if is_guarded:
            planned = [within_guard(each) for each in planned]
        return Layout(self._values[axes], planned, guards, self._shares, is_shared=transforms.clean_up)

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

    def _local_bytes(self, chosen: Configuration) -> int:
        """Return the local memory that a coarsened kernel declares for a group."""
        copies: dict[str, int] = {}
        for name, factor in _own_memory(self._axes, chosen):
            copies[name] = copies.get(name, 1) * factor
        variables = ((name[1:], count) for name, count in copies.items() if name.startswith("@"))
        types = self.kernel.globals
        more = sum((count - 1) * size_of(types[name].value_type) for name, count in variables)
        return self._counted.functions.local_bytes + more


def _own_memory(axes: Axes, chosen: Configuration) -> list[tuple[str, int]]:
    return [
        (name, coarsening.factor)
        for coarsening in chosen
        if coarsening.level is Level.GROUP
        for name in axes.analysed(Axis.of(coarsening)).divergence.own_local_memory
    ]


def _prologue(kernel: Kernel, coarsening: Coarsening) -> Counter[InstructionClass]:
    """Return the instructions at the start of a kernel that is coarsened.

    A query of a dimension that is known only at run time counts as well.
    """
    return Counter(filter(None, map(_class_of, rewrite_ids(kernel, coarsening).prologue)))


def _class_of(instruction: Instruction) -> InstructionClass | None:
    if instruction.opcode is Opcode.CALL:
        return None
    return InstructionClass.CONVERSION if instruction.opcode in CASTS else InstructionClass.INTEGER
