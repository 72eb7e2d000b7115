"""Made-up kernels whose launches follow a known law, so that choices can be held against the truth.

A kernel shares a part s of its work among the work-items that are merged: of f of them, each does 1 − s + s / f of
what it did, and each doubling makes it s − ½ faster (as a logarithm). The best local size has 128 work-items; each
doubling away from it costs 0.2. Measuring adds noise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from coarsen.cost.planned_work.launches import launched_sizes
from coarsen.cost.work_counts import AccessCount, InstructionClass, LaunchSizes, WorkCounts, padded
from coarsen.ir.types import AddressSpace
from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS
from coarsen.models.launch.case import LaunchCase, launch_inputs
from coarsen.models.launch.device import LaunchDevice, launch_device
from coarsen.models.launch.grid import OwnLaunch, launch_grid
from coarsen.models.launch.planning import PlannedLaunch
from coarsen.models.launch.training import TreeSettings
from coarsen.variant.variant import Variant

NOISE = 0.01
BEST_GROUP = 128
ITEMS = 1 << 16
SMALL = TreeSettings(trees=12)


@dataclass(frozen=True)
class MadeUpPlanner:
    """Tells the work of a kernel that shares a part of it, and has so many instructions."""

    shared: float
    instructions: float = 100.0

    def planned(self, variant: Variant, original: LaunchSizes, arguments: Mapping[str, int]) -> PlannedLaunch:
        """Return the work by the law."""
        merged = variant.factor
        count = self.instructions * (merged * (1 - self.shared) + self.shared)
        load = AccessCount(merged, 4, AddressSpace.GLOBAL, 4, None, False, 4.0 * original.items, False)
        work = WorkCounts(
            instructions=MappingProxyType({InstructionClass.FLOAT: count, InstructionClass.GLOBAL_ACCESS: merged}),
            accesses=(load,),
            barriers=0.0,
            atomics=0.0,
            local_bytes=0,
            live_words=8 + merged,
            chain_operations=count / 4,
            chain_accesses=1.0,
        )
        return PlannedLaunch(work, launched_sizes(variant, original), {})


def device_called(name: str) -> LaunchDevice:
    """The device of this name."""
    return launch_device(DEVICE_DESCRIPTORS[name])


def log_time(shared: float, variant: Variant) -> float:
    """The log time of a launch, without noise."""
    away = abs(math.log2(math.prod(variant.local_size) / BEST_GROUP))
    return 0.2 * away - (shared - 0.5) * math.log2(variant.factor)


def case(
    number: int,
    shared: float,
    *,
    device: str = "intel",
    kernel: str | None = None,
    family: str | None = None,
    mechanisms: frozenset[str] = frozenset(),
    runs: int = 1,
) -> LaunchCase:
    """A kernel measured over the grid."""
    random = np.random.default_rng(number)
    at = device_called(device)
    own = OwnLaunch((256,), (ITEMS,), False, (0,))
    variants = [candidate.variant for candidate in launch_grid(own, at)]
    planner = MadeUpPlanner(shared, float(random.uniform(50, 200)))
    planned = {
        variant: planner.planned(variant, LaunchSizes(padded((ITEMS,)), padded(variant.local_size)), {})
        for variant in variants
    }
    truth = np.array([log_time(shared, variant) for variant in variants])
    name = kernel or f"made_up_{number}"
    return LaunchCase(
        kernel=name,
        identity=f"{number:016x}",
        family=family or name,
        mechanisms=mechanisms,
        device=device,
        size="cpu",
        inputs=launch_inputs(planned, at),
        log_times=truth[:, None] + NOISE * random.normal(size=(len(variants), runs)),
        own=0,
    )


def cases(count: int, first: int = 0, device: str = "intel") -> list[LaunchCase]:
    """Kernels with parts drawn evenly from 0 to 1, half of them with a barrier that nothing depends on."""
    random = np.random.default_rng(first)
    shared = random.uniform(size=count)
    return [
        case(
            first + number,
            float(shared[number]),
            device=device,
            mechanisms=frozenset({"odd" if number % 2 else "even"}),
        )
        for number in range(count)
    ]
