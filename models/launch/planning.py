"""The work of a launch's variants, as whoever plans it without compiling tells it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

from coarsen.features.work_counts import LaunchSizes, WorkCounts
from coarsen.variant.variant import Variant

# The costs of a plan that inputs are made of.
PLAN_COSTS: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlannedLaunch:
    """A variant of a launch.

    Args:
        work: of one work-item of the coarsened kernel.
        sizes: that the coarsened kernel is launched with.
        costs: of the plan by which it is coarsened, by name, each for one work-item of the coarsened kernel.
    """

    work: WorkCounts
    sizes: LaunchSizes
    costs: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))


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


def planner_of(kernel: object) -> WorkPlanner:
    raise NotImplementedError(kernel)
