"""What is compared in the end: the launch as it is, and the best of several kinds of variants.

variants of a space ─▶ by kind ─▶ the fastest few of each by first times ─▶ second times ─▶ the best of each
"""

from __future__ import annotations

import enum

from coarsen.opencl_bench.studies.layouts.spaces import RecordSpace
from coarsen.opencl_bench.studies.layouts.times import SpaceTimes
from coarsen.variant.data_layout import SOA
from coarsen.variant.variant import Variant

# Of each kind, so many are timed again; of whole spaces, so many beside.
FEW = 2
FASTEST = 20


class Entrant(enum.StrEnum):
    """A kind of variants; of each the best is compared.

    `launched`: the kernel as its program launches it. `written`: arrays as written, nothing merged, at any local
    size. `soa`: the same with every array as a structure of arrays. `layout`: the same with arrays in any way.
    `coarsened`: work-items merged, arrays as written. `everything`: the whole space.
    """

    LAUNCHED = "as launched"
    WRITTEN = "best local size"
    SOA = "all SoA"
    LAYOUT = "best layout"
    COARSENED = "best coarsening alone"
    EVERYTHING = "best of everything"

    def takes(self, variant: Variant, space: RecordSpace) -> bool:
        """Return True for a variant of this kind."""
        is_own = variant.definitions == space.default.definitions
        match self:
            case Entrant.LAUNCHED:
                return variant == space.default
            case Entrant.WRITTEN:
                return variant.is_original and is_own
            case Entrant.SOA:
                return not variant.is_coarsened and is_own and _is_all_soa(variant, space)
            case Entrant.LAYOUT:
                return not variant.is_coarsened and is_own and bool(variant.arrays)
            case Entrant.COARSENED:
                return variant.is_coarsened and is_own and not variant.arrays
            case Entrant.EVERYTHING:
                return True


def _is_all_soa(variant: Variant, space: RecordSpace) -> bool:
    """Return True if each array that has fields lies as a structure of arrays, in its own order."""
    with_fields = {choices.argument for choices in space.space.arrays or () if SOA in choices.layouts}
    laid = {plan.argument for plan in variant.arrays if plan.layout == SOA and plan.order is None}
    return bool(with_fields) and laid == with_fields == {plan.argument for plan in variant.arrays}


def finalists(times: SpaceTimes) -> tuple[Variant, ...]:
    """Return the fastest few of each kind by first times, the launch as it is before all."""
    kinds = (times.fastest(_of(times, kind), FEW) for kind in Entrant)
    return tuple(dict.fromkeys(variant for kind in kinds for variant in kind))


def to_time_again(times: SpaceTimes) -> tuple[Variant, ...]:
    """Return what is timed in new processes: the finalists, and the fastest of a space that is searched."""
    fastest = times.fastest(times.first, FASTEST) if times.space.is_searched else ()
    return tuple(dict.fromkeys((*finalists(times), *fastest)))


def best_of_each(times: SpaceTimes) -> dict[Entrant, Variant]:
    """Return the best of each kind, by second times where there are any; kinds without one are left out."""
    found = {kind: times.best(_of(times, kind)) for kind in Entrant}
    return {kind: variant for kind, variant in found.items() if variant is not None}


def _of(times: SpaceTimes, kind: Entrant) -> list[Variant]:
    return [variant for variant in times.first if kind.takes(variant, times.space)]
