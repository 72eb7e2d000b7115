"""All that is reported of a kernel's memory accesses at a coarsening, as data and as lines to read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coarsen.analysis.algebra.polynomial import ZERO, Polynomial
from coarsen.analysis.expressions import ZERO as NOTHING
from coarsen.analysis.expressions import expression_text
from coarsen.cost.access_costs import AccessCost, AccessCosts, LoopReuse
from coarsen.cost.banks import ANY_DEVICE, MemoryDevice
from coarsen.cost.lane_addresses import Place, coarsened_size
from coarsen.cost.mending import Mending, Offer
from coarsen.cost.pads import PadCost, offered_pads
from coarsen.errors import aligned
from coarsen.ir.kernel import Kernel
from coarsen.variant.coarsening import Coarsening

_INDENT = "  "
_DIMENSIONS = range(3)
_UNKNOWN, _IRREGULAR = "unknown", "differs"
_ABOUT = "≈"


@dataclass(frozen=True, slots=True)
class MemoryReport:
    """What each access of a kernel costs, and what would mend it.

    Attributes:
        device: for which it was counted.
        local_size: of the coarsened launch; None where it isn't known: then lanes stand along dimension 0.
        coarsenings: by which the kernel is merged.
        accesses: in the order of the original kernel's instructions.
        offers: what would touch fewer sectors or lines.
        arrays: pads that local arrays are better off with.
        pads: that were asked for, and what they do.
    """

    device: MemoryDevice
    local_size: Place | None
    coarsenings: tuple[Coarsening, ...]
    accesses: tuple[AccessCost, ...]
    offers: tuple[Offer, ...]
    arrays: tuple[PadCost, ...]
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
    arrays = tuple(offered_pads(kernel, mending.accesses, device.banks))
    return MemoryReport(device, size, tuple(coarsenings), mending.accesses, mending.offers(), arrays)


def memory_lines(report: MemoryReport) -> Iterator[str]:
    """Yield the lines: of which device, a table of the accesses, what would mend them; none without accesses."""
    yield from _pads(report)
    if not report.accesses:
        return
    yield f"Memory: {_device(report)}"
    if report.device.assumed:
        yield f"({report.device.assumed})"
    # Along which any access moves; 0 at least.
    dimensions = [d for d in _DIMENSIONS if d == 0 or any(each.strides[d] != ZERO for each in report.accesses)]
    banks = ["banks"] if any(each.degree is not None for each in report.accesses) else []
    replicas = ["replicas"] if report.coarsenings else []
    along = [f"along {dimension}" for dimension in dimensions]
    headings = ["place", "access", *along, *replicas, f"{report.device.piece.split()[-1]}s", *banks, "taken again"]
    yield from aligned(headings, [_row(each, dimensions, bool(banks)) for each in report.accesses])
    if any(not _is_exact(each) for each in report.accesses):
        yield f"{_ABOUT} away from edges"
    if report.offers or report.arrays:
        yield ""
        yield f"What would mend it, in {report.device.piece}s of a sub-group:"
    for offer in report.offers:
        yield f"{_INDENT}{offer.option}: {offer.before} become {offer.after}, at most ({offer.condition})"
    for each in report.arrays:
        yield f"{_INDENT}--pad {each.name}={each.pad}: bank degrees of {each.before} become {each.after}"


def _pads(report: MemoryReport) -> Iterator[str]:
    if report.pads:
        yield "Pads of local arrays, and what they do to the bank degrees of all accesses together:"
        yield from (f"{_INDENT}{each.sentence}" for each in report.pads)
        yield ""


def _device(report: MemoryReport) -> str:
    device, size = report.device, report.local_size
    lanes = f"{device.lanes} lanes" + (f" of {'x'.join(map(str, size))}" if size else " along dimension 0")
    pieces = f"{device.piece}s of {device.piece_bytes} bytes"
    banks = f"{device.banks.count} banks of {device.banks.word_bytes} bytes" if device.banks else "no banks"
    return f"{lanes}, {pieces}, {banks}"


def _row(cost: AccessCost, dimensions: Sequence[int], has_banks: bool) -> list[str]:
    strides = [_stride(cost.strides[dimension]) for dimension in dimensions]
    replicas = [" ".join(map(_stride, cost.replica_strides))] if cost.replica_strides else []
    banks = [_degree(cost)] if has_banks else []
    return [_place(cost), _access(cost), *strides, *replicas, _pieces(cost), *banks, _reuse(cost, dimensions)]


def _place(cost: AccessCost) -> str:
    position = cost.access.instruction.position
    return str(position) if position is not None else f"block {cost.access.block}"


def _access(cost: AccessCost) -> str:
    kind = "store" if cost.access.is_store else "load"
    return f"{kind} {(cost.name or 'an unknown pointer').rpartition('.')[2]}, {cost.access.access_bytes} bytes"


def _stride(stride: Polynomial | None) -> str:
    return _IRREGULAR if stride is None else str(stride)


def _is_exact(cost: AccessCost) -> bool:
    return cost.addresses is None or cost.addresses.is_exact


def _about(cost: AccessCost, number: object) -> str:
    return f"{'' if _is_exact(cost) else _ABOUT}{number}"


def _pieces(cost: AccessCost) -> str:
    if cost.is_local:
        return ""
    return _UNKNOWN if cost.pieces is None else _about(cost, cost.pieces)


def _degree(cost: AccessCost) -> str:
    if not cost.is_local:
        return ""
    return _UNKNOWN if cost.degree is None else _about(cost, f"{cost.degree} of {cost.least_degree}")


def _reuse(cost: AccessCost, dimensions: Sequence[int]) -> str:
    shared = [str(dimension) for dimension in dimensions if dimension in cost.shared_along]
    words = [f"along {', '.join(shared)}"] if shared else []
    return "; ".join([*words, *map(_loop, cost.loops)])


def _loop(loop: LoopReuse) -> str:
    place = f"by loop {loop.line}" if loop.line is not None else f"by loop {loop.header}"
    if loop.bytes_between == NOTHING:
        return f"{place} at once"
    between = "unknown" if loop.bytes_between is None else expression_text(loop.bytes_between)
    return f"{place} after {between} bytes"
