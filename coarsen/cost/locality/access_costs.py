"""What each access of a kernel costs a sub-group at a coarsening."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from coarsen.analysis.access_footprints import AccessFootprint, access_footprints
from coarsen.analysis.algebra.affine import Access
from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.loop_counts import LoopCounts
from coarsen.cost.banks.degree import bank_degree, least_degree
from coarsen.cost.lanes import Place
from coarsen.cost.locality.device import MemoryDevice
from coarsen.cost.locality.lane_addresses import LaneAddresses, Lanes
from coarsen.cost.locality.pieces import Pieces, pieces_of
from coarsen.cost.locality.reuse import LoopReuse, repeated_in, shared_along
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import AddressSpace
from coarsen.variant.coarsening import Coarsening

_NEIGHBOURS: tuple[Place, ...] = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
_MEMORY = frozenset({AddressSpace.GLOBAL, AddressSpace.CONSTANT})


@dataclass(frozen=True, slots=True)
class AccessCost:
    """An access of the original kernel, as the work-items of a coarsened one make it.

    Attributes:
        access: of the original kernel.
        form: its bytes from the start of its variable, with the steps of loops written out.
        strides: bytes to the next work-item of the coarsened kernel along each dimension; None where they differ.
        replica_strides: bytes to the next merged work-item, for each coarsening; None likewise.
        addresses: of the lanes of a sub-group in the first replica; None where they aren't known.
        pieces: the sectors or lines that a sub-group touches with one execution; None where they aren't known, and
            for local memory.
        degree: of bank conflicts; None where it isn't known, for other memory, and without banks.
        least_degree: that as many words have at best; None likewise.
        shared_along: the dimensions along which work-items of a group access the same bytes.
        loops: that repeat it.
    """

    access: Access
    form: Polynomial
    strides: tuple[Polynomial | None, ...]
    replica_strides: tuple[Polynomial | None, ...]
    addresses: LaneAddresses | None
    pieces: Pieces | None
    degree: int | None
    least_degree: int | None
    shared_along: tuple[int, ...]
    loops: tuple[LoopReuse, ...]

    @property
    def name(self) -> str | None:
        """The argument or variable that it goes to; None where that isn't known."""
        return self.access.base.text if self.access.base is not None else None

    @property
    def is_local(self) -> bool:
        """Return True for local memory."""
        return self.access.address_space == AddressSpace.LOCAL


class AccessCosts:
    """The accesses of a kernel to global, constant and local memory, for whichever coarsenings are asked for.

    Args:
        kernel: in normal form, before coarsening.
        device: that it is to run on.
    """

    def __init__(self, kernel: Kernel, device: MemoryDevice) -> None:
        self.kernel, self.device = kernel, device
        self.forms = IndexForms(kernel, ControlFlow(kernel))
        self.counts = LoopCounts(self.forms)
        found = access_footprints(self.counts)
        self.footprints: tuple[AccessFootprint, ...] = tuple(
            each for each in found if each.access.address_space in _MEMORY | {AddressSpace.LOCAL}
        )

    def lanes(self, coarsenings: Sequence[Coarsening], local_size: Place | None) -> Lanes:
        """Return the lanes of a sub-group; `local_size` is that of the coarsened launch, None where not known."""
        return Lanes(self.forms, coarsenings, self.device.lanes, local_size)

    def at(self, coarsenings: Sequence[Coarsening], local_size: Place | None) -> tuple[AccessCost, ...]:
        """Return what each access costs.

        Args:
            coarsenings: in the order in which they are carried out.
            local_size: of the coarsened launch, in work-items; None where it isn't known.
        """
        lanes = self.lanes(coarsenings, local_size)
        return tuple(self._cost(lanes, each, len(coarsenings)) for each in self.footprints)

    def _cost(self, lanes: Lanes, footprint: AccessFootprint, coarsenings: int) -> AccessCost:
        access, form = footprint.access, self.counts.sizes.expanded(footprint.access.form)
        found = lanes.addresses(form)
        cost = AccessCost(
            access,
            form,
            tuple(lanes.gain(form, place) for place in _NEIGHBOURS),
            tuple(
                lanes.gain(form, (0, 0, 0), [int(number == each) for number in range(coarsenings)])
                for each in range(coarsenings)
            ),
            found,
            None,
            None,
            None,
            shared_along(self.counts, footprint),
            repeated_in(self.counts, footprint),
        )
        return cost if found is None else self._counted(cost, found)

    def _counted(self, cost: AccessCost, found: LaneAddresses) -> AccessCost:
        size, banks = cost.access.access_bytes, self.device.banks
        if not cost.is_local:
            counted = pieces_of(found, size, cost.access.element_bytes, self.device.piece_bytes)
            return replace(cost, pieces=counted)
        if banks is None:
            return cost
        degree, least = (count(found.places, size, banks) for count in (bank_degree, least_degree))
        return replace(cost, degree=degree, least_degree=least)
