"""What is told of memory accesses, in the report of `coarsen apply --report --format json`; its keys are stable.

device              `lanes` of a sub-group; `piece` ("sector" or "cache line") of `piece_bytes`; `banks` and
                    `word_bytes` of local memory, null without banks; `assumed`: what is taken for granted, or ""
local_size          of the coarsened launch, three numbers; null where it isn't known: lanes along dimension 0
accesses            a list in the order of the code, of
    file, line, column  in the source; null where that isn't known
    to                  the argument or variable, null where that isn't known
    kind                "load" or "store"; a read-modify-write is a store
    bytes               that a work-item touches
    strides             along dimensions 0, 1, 2: bytes to the next work-item of the coarsened kernel, a number or
                        a text over sizes; null where it is not the same everywhere
    replica_strides     bytes to the next merged work-item, for each coarsening, alike
    pieces              null where unknown or local, or `least` and `most` sectors or lines for a sub-group
    bank_degree         null where unknown, not local or without banks, or `degree` and `least` possible
    away_from_edges     whether these numbers hold away from edges only (`min(id, n - 1)`)
    shared_along        the dimensions along which work-items of a group access the same bytes
    loops               that repeat it, a list of `header`, `line`, `bytes_between` (a text, null where unknown)
mending             what would touch fewer, a list of
    option, argument    of `coarsen apply`; `argument` null where it concerns all
    condition           what has to hold, a sentence
    before, after       pieces that a sub-group touches, at most, over the accesses that change
pads                of local arrays that were asked for, a list of
    name, asked, pad    the array; what was asked for, and what is done: a number of elements, as a text, or "xor"
    before, after       the sum of bank degrees over all accesses; null where it isn't known
    reason              why not, or ""
arrays              in local memory whose rows are better padded, a list of
    name, row_elements, element_bytes
    pad_words           words to add to each row
    before, after       the sum of bank degrees over all references
    swizzle             null, or `mask`, `unit_bytes`, and `after` with unit ^ (row & mask) in place of a pad
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.analysis.expression_text import expression_text
from coarsen.cli.places_json import place_json
from coarsen.cost.access_costs import AccessCost, LoopReuse
from coarsen.cost.banks import MemoryDevice
from coarsen.cost.memory_report import MemoryReport
from coarsen.cost.mending import Offer
from coarsen.cost.pads import LocalArray, PadCost


def memory_json(report: MemoryReport, file: Path) -> dict[str, Any]:
    """Return what is told of memory accesses as data; `file` is what the user named."""
    return {
        "device": _device(report.device),
        "local_size": list(report.local_size) if report.local_size else None,
        "accesses": [_access(each, file) for each in report.accesses],
        "mending": [_offer(each) for each in report.offers],
        "pads": [_pad(each) for each in report.pads],
        "arrays": [_array(each) for each in report.arrays],
    }


def _device(device: MemoryDevice) -> dict[str, Any]:
    return {
        "lanes": device.lanes,
        "piece": device.piece,
        "piece_bytes": device.piece_bytes,
        "banks": device.banks.count if device.banks else None,
        "word_bytes": device.banks.word_bytes if device.banks else None,
        "assumed": device.assumed,
    }


def _access(cost: AccessCost, file: Path) -> dict[str, Any]:
    access = cost.access
    has_degree = cost.degree is not None
    return {
        **place_json(access.instruction.position, file),
        "to": cost.name,
        "kind": "store" if access.is_store else "load",
        "bytes": access.access_bytes,
        "strides": [_stride(each) for each in cost.strides],
        "replica_strides": [_stride(each) for each in cost.replica_strides],
        "pieces": {"least": cost.pieces.least, "most": cost.pieces.most} if cost.pieces else None,
        "bank_degree": {"degree": cost.degree, "least": cost.least_degree} if has_degree else None,
        "away_from_edges": cost.addresses is not None and not cost.addresses.is_exact,
        "shared_along": list(cost.shared_along),
        "loops": [_loop(each) for each in cost.loops],
    }


def _stride(stride: Polynomial | None) -> int | str | None:
    if stride is None:
        return None
    return str(stride) if stride.number is None else stride.number


def _loop(loop: LoopReuse) -> dict[str, Any]:
    between = None if loop.bytes_between is None else expression_text(loop.bytes_between)
    return {"header": loop.header, "line": loop.line, "bytes_between": between}


def _offer(offer: Offer) -> dict[str, Any]:
    return {
        "option": offer.option,
        "argument": offer.argument,
        "condition": offer.condition,
        "before": offer.before,
        "after": offer.after,
    }


def _array(array: LocalArray) -> dict[str, Any]:
    swizzle = array.swizzle
    permuted = {"mask": swizzle.mask, "unit_bytes": swizzle.unit_bytes, "after": swizzle.cost} if swizzle else None
    return {
        "name": array.name,
        "row_elements": array.row_elements,
        "element_bytes": array.element_bytes,
        "pad_words": array.padding.words,
        "before": array.padding.unpadded_cost,
        "after": array.padding.cost,
        "swizzle": permuted,
    }


def _pad(pad: PadCost) -> dict[str, Any]:
    return {
        "name": pad.name,
        "asked": str(pad.asked),
        "pad": str(pad.pad),
        "before": pad.before,
        "after": pad.after,
        "reason": pad.reason,
    }
