"""The values of inputs that tell what vectors over work-items cost: gathers, scatters, masks, and scalar code.

A group whose extent along dimension 0 fills a vector can run its work-items as lanes. Accesses that don't lie side
by side are then gathered lane by lane, and branches that part are masked; a shorter group runs scalar code, in
which OpenCL's own vector types are still vectors. What decides is not known: these are the costs of either.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from coarsen.features.kernel_facts import along
from coarsen.models.launch.input_values import Pair
from coarsen.models.launch.planning import DescribedLaunch

# Gathering an element costs as much as so many vector operations: nobody knows how many.
_GATHER_COSTS = (1.0, 4.0, 16.0)
_WORD = 4
_LEAST = -12.0
_SMALL = 0.1

GATHER_NAMES = (
    *("fills a vector before", "fills a vector after", "apart before", "apart after"),
    *("gathered before", "gathered after", "share gathered before", "share gathered after"),
    *(f"speed-up if a gather costs {int(cost)}" for cost in _GATHER_COSTS),
    *("scalar operations after", "masked before", "masked after", "growth of accesses apart"),
)


def gather_values(pair: Pair) -> list[float]:
    """Return what vectors over work-items cost before and after."""
    before, after = _Lanes.of(pair.before), _Lanes.of(pair.after)
    speedups = (_log(first / second) for first, second in zip(before.costs, after.costs, strict=True))
    return [
        *(float(each.fills) for each in (before, after)),
        *(math.log2(1.0 + each.apart) for each in (before, after)),
        *(math.log2(1.0 + each.gathered) for each in (before, after)),
        *(each.gathered / each.operations for each in (before, after)),
        *speedups,
        0.0 if after.fills else math.log2(1.0 + after.operations),
        *(each.masked for each in (before, after)),
        _log((after.apart + _SMALL) / (before.apart + _SMALL)),
    ]


@dataclass(frozen=True, slots=True)
class _Lanes:
    """A launch in numbers for each of the original's work-items.

    Attributes:
        fills: whether a group's extent along dimension 0 fills a vector.
        operations: instructions.
        apart: accessed elements that don't lie side by side; `gathered` those that a vector would gather.
        masked: the share of work that a vector would mask.
        costs: of operations and gathers together, by the cost of a gather.
    """

    fills: bool
    operations: float
    apart: float
    gathered: float
    masked: float
    costs: tuple[float, ...]

    @classmethod
    def of(cls, launch: DescribedLaunch) -> _Lanes:
        width, facts = launch.device.simd_width, launch.planned.facts
        fills = launch.planned.sizes.local_size[0] >= width
        operations = max(launch.total, 0.25)
        apart = _apart(launch)
        gathered = apart if fills else 0.0
        parting = sum(facts.get(along(f"divergent {kind} share", 0), 0.0) for kind in ("guard", "loop"))
        lanes = width if fills else max(1.0, facts.get("mean vector width", 1.0))
        costs = tuple(operations / lanes + gathered * cost for cost in _GATHER_COSTS)
        return cls(fills, operations, apart, gathered, parting if fills else 0.0, costs)


def _apart(launch: DescribedLaunch) -> float:
    """Elements that a lane's neighbour doesn't have beside it, of memory of any kind; vectors count one by one."""
    return (
        sum(
            access.count * max(1.0, access.bytes / _WORD)
            for access in launch.planned.work.accesses
            if access.lane_stride is None or abs(access.lane_stride) not in (0, _WORD)
        )
        / launch.merged
    )


def _log(ratio: float) -> float:
    return math.log2(max(ratio, 2.0**_LEAST))
