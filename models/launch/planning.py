"""The work of a launch's variants, planned without compiling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Protocol

from coarsen.cost.planned_work.planned_kernel import PlannedKernel
from coarsen.cost.work_counts import LaunchSizes, WorkCounts
from coarsen.cost.work_functions import launched_sizes
from coarsen.features.kernel_facts import kernel_facts
from coarsen.variant.variant import Variant

# The costs of a plan that inputs are made of.
PLAN_COSTS = (
    *("code_size", "code_growth", "copied_share", "copied_regions", "fast_paths", "lock_step_loops", "tests"),
    *("parting", "second_bodies", "uncertain", "merged_loads", "wide_accesses", "own_local_arguments"),
)


@dataclass(frozen=True, slots=True)
class PlannedLaunch:
    """A variant of a launch.

    Args:
        work: of one work-item of the coarsened kernel.
        sizes: that the coarsened kernel is launched with.
        costs: of the plan by which it is coarsened, by name, each for one work-item of the coarsened kernel.
        facts: of the original kernel's text, by name (`features/kernel_facts.py`); those that are not there are 0.
    """

    work: WorkCounts
    sizes: LaunchSizes
    costs: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    facts: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))


class WorkPlanner(Protocol):
    """Tells the work of the variants of one kernel."""

    def planned(self, variant: Variant, original: LaunchSizes, arguments: Mapping[str, int]) -> PlannedLaunch:
        """Return the work of a variant.

        Args:
            variant: its coarsenings and transforms; its local size is that of `original`.
            original: the sizes of the uncoarsened launch.
            arguments: the whole scalar arguments that are known, by name.

        Raises:
            RefusalError: the kernel can't be coarsened so.
            InvalidInputError: the sizes give no finite number of work.
        """
        ...


@dataclass(frozen=True)
class KernelPlanner:
    """Tells the work of a kernel's variants from the plan of the transforms."""

    kernel: PlannedKernel

    def planned(self, variant: Variant, original: LaunchSizes, arguments: Mapping[str, int]) -> PlannedLaunch:
        """Return the work of a variant, as `WorkPlanner` has it."""
        sizes = launched_sizes(variant, original)
        if not variant.is_coarsened:
            return PlannedLaunch(self.kernel.work(variant, original, arguments), sizes, facts=self._facts)
        work, costs = self.kernel.work_and_costs(variant, original, arguments)
        return PlannedLaunch(work, sizes, {name: getattr(costs, name) for name in PLAN_COSTS}, self._facts)

    @cached_property
    def _facts(self) -> Mapping[str, float]:
        return kernel_facts(self.kernel.kernel)
