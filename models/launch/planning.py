"""The work of a launch's variants, planned without compiling."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from coarsen.cost.planned_work.planned_kernel import PlannedKernel
from coarsen.cost.work_counts import AccessCount, InstructionClass, LaunchSizes, WorkCounts
from coarsen.cost.work_functions import launched_sizes
from coarsen.errors import InvalidInputError
from coarsen.features.kernel_facts import kernel_facts
from coarsen.models.analytic.estimate import Estimate, cpu, gpu
from coarsen.models.launch.device import LaunchDevice
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


@dataclass(frozen=True)
class WorkPlanner:
    """Tells the work of a kernel's variants from the plan of the transforms."""

    kernel: PlannedKernel

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
        sizes = launched_sizes(variant, original)
        if not variant.is_coarsened:
            return PlannedLaunch(self.kernel.work(variant, original, arguments), sizes, facts=self._facts)
        work, costs = self.kernel.work_and_costs(variant, original, arguments)
        return PlannedLaunch(work, sizes, {name: getattr(costs, name) for name in PLAN_COSTS}, self._facts)

    @cached_property
    def _facts(self) -> Mapping[str, float]:
        return kernel_facts(self.kernel.kernel)


# A launch in the numbers that inputs are made of: its planned work, what an analytic model says, how it fills the
# device.
#
# Work is counted for each of the original's work-items, so that variants compare.

# How a work-item's accesses lie to its neighbour's, along dimension 0.
PATTERNS = ("side by side", "broadcast", "strided", "irregular")


@dataclass(frozen=True)
class DescribedLaunch:
    """A variant, its planned work, and the device that it is launched on."""

    variant: Variant
    planned: PlannedLaunch
    device: LaunchDevice

    @cached_property
    def merged(self) -> int:
        """The number of the original's work-items that one work-item does."""
        return self.variant.factor

    @cached_property
    def instructions(self) -> Mapping[InstructionClass, float]:
        """Instructions for each of the original's work-items, by class."""
        found = self.planned.work.instructions
        return {kind: found.get(kind, 0.0) / self.merged for kind in InstructionClass}

    @cached_property
    def total(self) -> float:
        """All of these."""
        return sum(self.instructions.values())

    @cached_property
    def outer(self) -> tuple[AccessCount, ...]:
        """Accesses to memory that all work-groups share."""
        return tuple(access for access in self.planned.work.accesses if access.is_outer)

    @cached_property
    def outer_bytes(self) -> float:
        """Bytes of these for each of the original's work-items."""
        return sum(access.count * access.bytes for access in self.outer) / self.merged

    @cached_property
    def patterns(self) -> tuple[float, ...]:
        """The share of each of `PATTERNS` among these, and of those whose copies could be one wide access."""
        shares = dict.fromkeys(PATTERNS, 0.0)
        wide = 0.0
        total = sum(access.count for access in self.outer) or 1.0
        for access in self.outer:
            shares[_pattern(access)] += access.count / total
            wide += access.count / total * (access.replica_stride == access.bytes)
        return (*shares.values(), wide)

    @cached_property
    def footprint(self) -> float | None:
        """Bytes that the launch touches, as far as that is known; None where nothing is."""
        known = [access.footprint for access in self.outer if access.footprint is not None]
        return max(known) if known else None

    @cached_property
    def groups_per_unit(self) -> float:
        """Work-groups for each compute unit."""
        return self.planned.sizes.groups / self.device.compute_units

    @cached_property
    def idle_share(self) -> float:
        """The share of compute units' turns that have no work-group, if each holds one at a time."""
        turns = math.ceil(self.groups_per_unit)
        return 1.0 - self.groups_per_unit / turns if turns else 0.0

    @cached_property
    def values(self) -> dict[Callable[[DescribedLaunch], Sequence[float]], Sequence[float]]:
        """The inputs of this launch that were found already, by the function that gives them."""
        return {}

    @cached_property
    def estimate(self) -> Estimate | None:
        """The analytic model's, None without a profile that it can do with."""
        if self.device.profile is None:
            return None
        model = gpu if self.device.is_gpu else cpu
        try:
            return model(self.planned.work, self.planned.sizes, self.device.profile)
        except InvalidInputError:
            return None


def _pattern(access: AccessCount) -> str:
    stride = access.lane_stride
    if stride is None:
        return "irregular"
    if stride == 0:
        return "broadcast"
    return "side by side" if abs(stride) <= access.bytes else "strided"
