"""All that is told of a kernel's memory accesses at a coarsening."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coarsen.cost.lanes import Place, coarsened_size
from coarsen.cost.locality.access_costs import AccessCost, AccessCosts
from coarsen.cost.locality.device import ANY_DEVICE, MemoryDevice
from coarsen.cost.locality.local_arrays import LocalArray, local_arrays
from coarsen.cost.locality.mending import Mending, Offer
from coarsen.cost.locality.pads import PadCost
from coarsen.ir.kernel import Kernel
from coarsen.variant.coarsening import Coarsening


@dataclass(frozen=True, slots=True)
class MemoryReport:
    """What each access of a kernel costs, and what would mend it.

    Attributes:
        device: for which it was counted.
        local_size: of the coarsened launch; None where it isn't known: then lanes stand along dimension 0.
        coarsenings: by which the kernel is merged.
        accesses: in the order of the original kernel's instructions.
        offers: what would touch fewer sectors or lines.
        arrays: in local memory whose rows are better padded.
        pads: that were asked for, and what they do.
    """

    device: MemoryDevice
    local_size: Place | None
    coarsenings: tuple[Coarsening, ...]
    accesses: tuple[AccessCost, ...]
    offers: tuple[Offer, ...]
    arrays: tuple[LocalArray, ...]
    pads: tuple[PadCost, ...] = ()


def memory_report(
    kernel: Kernel,
    coarsenings: Sequence[Coarsening] = (),
    device: MemoryDevice = ANY_DEVICE,
    local_size: Place | None = None,
) -> MemoryReport:
    """Return what is told of a kernel's memory accesses.

    Args:
        kernel: in normal form, before coarsening.
        coarsenings: in the order in which they are carried out.
        device: that it is to run on.
        local_size: of the original launch; None where it isn't known.

    Raises:
        InvalidInputError: a local size that the coarsenings do not divide.
    """
    size = coarsened_size(local_size, coarsenings) if local_size is not None else None
    mending = Mending(AccessCosts(kernel, device), coarsenings, size)
    arrays = local_arrays(kernel, mending.accesses, device.banks)
    return MemoryReport(device, size, tuple(coarsenings), mending.accesses, mending.offers(), arrays)
