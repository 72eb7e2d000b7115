"""What padding, or an exclusive or, does for the arrays of rows in local memory: offered, asked for, or `auto`.

float tile[16][16], auto    32 banks of 4 bytes     1 element more, degrees 17 become 2
                            no banks                no pad
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from coarsen.cost.access_costs import AccessCost, AccessCosts
from coarsen.cost.banks import Banks, MemoryDevice, Reference, best_padding, permuted_cost, pitch_cost
from coarsen.cost.lane_addresses import Place, coarsened_size, lane_places
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.ir.graph.instruction import alignment
from coarsen.ir.graph.variables import name_in_source
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import AddressSpace
from coarsen.transform.layouts.pad import Rows, rows_of
from coarsen.transform.placement.boxes import Footprint
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.pads import NO_PAD, Pad, PadKind


@dataclass(frozen=True, slots=True)
class PadCost:
    """What a pad does to bank conflicts.

    Attributes:
        name: of the array.
        asked: what was asked for.
        pad: what is done.
        before: the sum of the degrees of all its accesses without; None where it isn't known.
        after: with it; None likewise.
        reason: why nothing is known or done; empty where all is known.
    """

    name: str
    asked: Pad
    pad: Pad
    before: int | None = None
    after: int | None = None
    reason: str = ""

    @property
    def sentence(self) -> str:
        """Return what was chosen, and what it does."""
        elements = "1 element more" if self.pad.elements == 1 else f"{self.pad.elements} elements more"
        done = "permuted rows" if self.pad.kind is PadKind.XOR else f"rows of {elements}"
        if self.pad == NO_PAD:
            done = "no pad"
        if self.pad == NO_PAD and self.before is not None and self.before == self.after:
            return f"{self.name}: no pad is needed: bank degrees of {self.before} are the least"
        if self.before is None:
            return f"{self.name}: {done}: {self.reason}"
        return f"{self.name}: {done}: bank degrees of {self.before} become {self.after}"


def offered_pads(kernel: Kernel, costs: Sequence[AccessCost], banks: Banks | None) -> Iterator[PadCost]:
    """Yield the pads and permutations that lower the sum of degrees of a kernel's arrays in local memory.

    Args:
        kernel: that declares them.
        costs: of its accesses.
        banks: of the device; None where it has none: then nothing is gained.
    """
    if banks is None:
        return
    local = (each.name for each in kernel.globals.values() if each.address_space == AddressSpace.LOCAL)
    for name, kind in itertools.product(map(name_in_source, local), (PadKind.AUTO, PadKind.XOR)):
        # It has no rows, or none that can be permuted.
        with contextlib.suppress(InvalidInputError, RefusalError):
            found = _costed(rows_of(kernel.graph, kernel.name, name, Pad(kind), None), costs, banks)
            if found.before and found.after and found.after < found.before:
                yield found


def costed_pads(
    kernel: Kernel,
    plans: Sequence[ArrayPlan],
    device: MemoryDevice,
    coarsenings: Sequence[Coarsening] = (),
    local_size: Place | None = None,
) -> tuple[PadCost, ...]:
    """Return what each plan's pad is and does.

    Args:
        kernel: in normal form, before pads and coarsening.
        plans: those without a pad are passed over.
        device: that it is to run on.
        coarsenings: in the order in which they are carried out.
        local_size: of the original launch; what the kernel requires, if it does, where it is left out.

    Raises:
        InvalidInputError: there is no such array, it has another shape, or its rows can't be permuted; a local
            size that the coarsenings do not divide.
        RefusalError: `layout-shape-unknown`.
    """
    chosen = [plan for plan in plans if plan.pad != NO_PAD]
    if not chosen:
        return ()
    module = kernel.graph
    arrays = [rows_of(module, kernel.name, plan.argument, plan.pad, plan.shape) for plan in chosen]
    if device.banks is None:
        return tuple(_unknown(rows, "the device's local memory has no banks") for rows in arrays)
    size = local_size or kernel.required_work_group_size
    merged = coarsened_size(size, coarsenings) if size is not None else None
    costs = AccessCosts(kernel, device).at(coarsenings, merged)
    return tuple(_costed(rows, costs, device.banks) for rows in arrays)


def with_pads(plans: Sequence[ArrayPlan], costed: Sequence[PadCost]) -> tuple[ArrayPlan, ...]:
    """Return plans with the pads that were chosen for `auto`, without those for which none was."""
    pads = {each.name: each.pad for each in costed}
    return tuple(
        replace(plan, pad=pads[plan.argument]) if plan.pad.kind is PadKind.AUTO else plan
        for plan in plans
        if plan.pad.kind is not PadKind.AUTO or pads[plan.argument] != NO_PAD
    )


def tile_pad(footprint: Footprint, sizes: Sequence[int], element_bytes: int, device: MemoryDevice) -> int:
    """Return how many elements to add to each row of a box in local memory (Baskaran et al. 2008, algorithm 2).

    Counted are the reads, by the first work-items of a group, and the copying, cell by cell.

    Args:
        footprint: the box.
        sizes: of a work-group, along each dimension.
        element_bytes: of the array's elements.
        device: that it is to run on; without banks nothing is added.
    """
    if device.banks is None or len(footprint.axes) == 1:
        return 0
    extents = [axis.extent for axis in footprint.axes]
    ids = lane_places((sizes[0], sizes[1], sizes[2]), min(device.lanes, math.prod(sizes)))

    def place(along: Sequence[int]) -> tuple[int, int]:
        row, column = 0, along[-1]
        for each, extent in zip(along[:-1], extents, strict=False):
            row = row * extent + each
        return row, column * element_bytes

    reads = [[place(footprint.places(spans, own)) for own in ids] for spans in footprint.spans]
    copied = [
        (row, column * element_bytes) for row, column in (divmod(lane, extents[-1]) for lane in range(len(ids)))
    ]
    references = [Reference(tuple(places), element_bytes) for places in (*reads, copied)]
    words, _ = best_padding(references, extents[-1] * element_bytes, element_bytes, device.banks)
    return words * device.banks.word_bytes // element_bytes


def _unknown(rows: Rows, reason: str) -> PadCost:
    return PadCost(rows.name, rows.pad, NO_PAD if rows.pad.kind is PadKind.AUTO else rows.pad, reason=reason)


def _costed(rows: Rows, costs: Sequence[AccessCost], banks: Banks) -> PadCost:
    own = [each for each in costs if each.name == rows.variable.name]
    found: list[Reference] = []
    for each in own:
        if each.addresses is None:
            return _unknown(rows, "where its accesses go isn't known")
        # What nobody knows moves all lanes alike, and so from bank to bank alike.
        places = tuple(divmod(place, rows.row_bytes) for place in each.addresses.places)
        found.append(Reference(places, each.access.access_bytes))
    before, pad, after = pitch_cost(found, rows.row_bytes, banks), rows.pad, None
    if pad.kind is PadKind.AUTO:
        # Elements, and accesses to several of them, stay aligned.
        aligned = max([rows.element_bytes, *(alignment(each.access.instruction) for each in own)])
        words, after = best_padding(found, rows.row_bytes, aligned, banks)
        pad = Pad(elements=words * banks.word_bytes // rows.element_bytes)
    elif pad.kind is PadKind.XOR:
        after = permuted_cost(found, rows.row_bytes, rows.element_bytes, banks)
    else:
        after = pitch_cost(found, rows.pitch * rows.element_bytes, banks)
    if after is None:
        return _unknown(rows, "an access is not within one unit of a row")
    return PadCost(rows.name, rows.pad, pad, before, after)
