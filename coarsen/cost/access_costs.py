"""What each access of a kernel costs a sub-group at a coarsening. For predictions only.

    32 lanes, 4 bytes each, 4 bytes apart      4 sectors of 32 bytes; 5 where they start in the middle of one
    for (i …) for (k …) sum += a[row * n + k]  loop i repeats it, with 4·n bytes in between

Where nobody knows in which byte of a piece the first lane's access starts, there is a range.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coarsen.analysis.access_footprints import AccessFootprint, access_footprints
from coarsen.analysis.algebra.affine import Access
from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.analysis.algebra.symbols import symbol_of
from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.expressions import ZERO, Expression, number, product
from coarsen.analysis.loop_counts import LoopCounts
from coarsen.cost.banks import MemoryDevice, bank_degree, least_degree, touched
from coarsen.cost.lane_addresses import LaneAddresses, Lanes, Place
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.queries import Query
from coarsen.ir.types import AddressSpace
from coarsen.variant.coarsening import Coarsening

_NEIGHBOURS: tuple[Place, ...] = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
_OF_ITEMS = (Query.GLOBAL_ID, Query.LOCAL_ID)
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
        found, size = lanes.addresses(form), access.access_bytes
        is_local, pieces = access.address_space == AddressSpace.LOCAL, None
        degrees: tuple[int | None, int | None] = (None, None)
        if found is not None and not is_local:
            pieces = pieces_of(found, size, access.element_bytes, self.device.piece_bytes)
        if found is not None and is_local and self.device.banks is not None:
            places, banks = found.places, self.device.banks
            degrees = bank_degree(places, size, banks), least_degree(places, size, banks)
        merged = [[int(number == each) for number in range(coarsenings)] for each in range(coarsenings)]
        return AccessCost(
            access,
            form,
            tuple(lanes.gain(form, place) for place in _NEIGHBOURS),
            tuple(lanes.gain(form, (0, 0, 0), replicas) for replicas in merged),
            found,
            pieces,
            *degrees,
            shared_along(self.counts, footprint),
            tuple(_repeated_in(self.counts, footprint)),
        )


@dataclass(frozen=True, slots=True)
class Pieces:
    """How many pieces of memory are touched: at least and at most."""

    least: int
    most: int

    def __str__(self) -> str:
        return str(self.least) if self.least == self.most else f"{self.least}–{self.most}"


def pieces_of(addresses: LaneAddresses, access_bytes: int, element_bytes: int, piece_bytes: int) -> Pieces:
    """Return how many pieces lanes touch.

    Args:
        addresses: of the lanes; variables start at multiples of a piece.
        access_bytes: of each lane.
        element_bytes: what accesses are aligned to.
        piece_bytes: of a sector or cache line.
    """
    step = math.gcd(addresses.grain, piece_bytes) or piece_bytes
    starts = range(0, piece_bytes, step)
    aligned = [start for start in starts if (addresses.places[0] + start) % element_bytes == 0]
    counts = {
        len(touched([place + start for place in addresses.places], access_bytes, piece_bytes))
        for start in aligned or starts
    }
    return Pieces(min(counts), max(counts))


@dataclass(frozen=True, slots=True)
class LoopReuse:
    """A loop in each iteration of which a work-item accesses the same bytes.

    Attributes:
        header: the loop's header, a block's name.
        line: of the source, from 1; None where it isn't known.
        bytes_between: that the access touches at most on the way back to the same ones, 0 where it stays there;
            None where data decide.
    """

    header: str
    line: int | None
    bytes_between: Expression | None


def shared_along(counts: LoopCounts, footprint: AccessFootprint) -> tuple[int, ...]:
    """Return the dimensions along which all work-items of a group access the same bytes."""
    origins = counts.forms.symbols.origins(footprint.access.form)
    return tuple(
        dimension
        for dimension, stride in enumerate(footprint.access.strides)
        if stride == 0 and origins.isdisjoint(symbol_of(query, dimension) for query in _OF_ITEMS)
    )


def _repeated_in(counts: LoopCounts, footprint: AccessFootprint) -> Iterator[LoopReuse]:
    """Yield the loops that repeat an access, innermost first."""
    size = number(footprint.access.access_bytes)
    between: Expression | None = ZERO
    for header, stride in footprint.iteration_strides.items():
        if stride == ZERO:
            position = counts.forms.kernel.block[header].terminator.position
            yield LoopReuse(header, position.line if position is not None else None, between)
            continue
        rounds = counts.of(header).count
        if between is None or stride is None or rounds is None:
            between = None
        else:
            between = product([size if between == ZERO else between, rounds])
