"""Adaptic's model (Samadi et al., PLDI 2012): latency-bound, memory-bound or computation-bound.

The paper prints no formula. It says that where too few warps are active to hide latency, computation and memory
are added, and that otherwise the larger of both is taken, which names the class. "Too few" is read here as fewer
than the smaller of Mem_L / Departure and of CWP, before it is cut to the active warps, of Hong and Kim's model.
"""

from __future__ import annotations

from types import MappingProxyType

from coarsen.cost.work_counts import LaunchSizes, WorkCounts
from coarsen.models.analytic.estimate import Estimate
from coarsen.models.analytic.hong_kim import parameters
from coarsen.models.analytic.machine import DeviceProfile


def three_classes(work: WorkCounts, launch: LaunchSizes, machine: DeviceProfile) -> Estimate:
    """Estimate a launch. Raises InvalidInputError where the profile has no clock, rate or bandwidth."""
    given = parameters(work, launch, machine)
    n = given.active_warps
    rep = given.blocks / (given.active_blocks * given.active_multiprocessors)
    comp = given.issue_cycles * given.instructions
    moved = given.coalesced * given.departure_coal + given.uncoalesced * given.transactions * given.departure_unc
    memory = given.coalesced + given.uncoalesced
    waiting = memory * given.mem_ld
    departure = moved / memory if memory else 1.0
    needed = min(given.mem_ld / departure, (waiting + comp) / comp) if memory else 1.0
    parts = {"compute": comp * n * rep / given.frequency, "memory": moved * n * rep / given.frequency}
    if n < needed:
        seconds = (comp + waiting) * rep / given.frequency
        return Estimate(seconds, "latency", MappingProxyType({**parts, "latency": seconds}))
    bound = max(parts, key=lambda name: parts[name])
    return Estimate(parts[bound], bound, MappingProxyType(parts))
