"""The report of `coarsen apply --report --format json`.

Its keys are stable: `docs/reference/report-format.md` lists them.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.analysis.expressions import expression_text
from coarsen.cli.kernel_input import is_ir_file
from coarsen.cli.output import picked
from coarsen.cost.access_costs import AccessCost, LoopReuse
from coarsen.cost.banks import MemoryDevice
from coarsen.cost.memory_report import MemoryReport
from coarsen.cost.pads import PadCost
from coarsen.errors import RefusalError, SourcePosition
from coarsen.ir.added_arguments import DescribedArgument
from coarsen.remarks.report import CoarseningReport, KernelReport, RegionCost, RoleCount
from coarsen.transform.distinct import DistinctMemory
from coarsen.transform.layouts.lay_out import LaidArray


def report_json(report: KernelReport, file: Path) -> dict[str, Any]:
    """Return the report of a kernel that was coarsened; `file` is what the user named."""
    made = report.coarsened
    return {
        "kernel": made.lowered.name,
        "refusal": None,
        "instructions": {**picked(report, "before after per_replica"), "cleaned": made.cleaned},
        "coarsenings": [_coarsening(each, file) for each in report.coarsenings],
        "roles": [_role(each) for each in report.roles],
        "wide_accesses": made.wide_accesses and picked(made.wide_accesses, "loads wide_loads stores wide_stores"),
        "long_indices": made.long_indices,
        "tiles": made.tiles and [asdict(array) for array in made.tiles.arrays],
        "distinct": _distinct(made.distinct, file) if made.distinct else None,
        "added_arguments": [_added(argument) for argument in report.added_arguments],
        "arrays": [_array(array) for array in made.arrays],
        "assumptions": list(made.assumptions),
        "memory": memory_json(report.memory, file),
    }


def refusal_json(refusal: RefusalError, kernel: str | None, file: Path) -> dict[str, Any]:
    """Return the report of a kernel that was refused; `kernel` is its name if it was given."""
    return {"kernel": kernel, "refusal": {**picked(refusal, "code reason"), **place_json(refusal.position, file)}}


def _coarsening(report: CoarseningReport, file: Path) -> dict[str, Any]:
    outside = report.outside
    work = {"outside": outside.work, "interleaved": report.interleaved_work, "copies": report.copied_work}
    return {
        **picked(report.coarsening, "factor dimension stride level"),
        "shared": report.shared,
        "work": work,
        "outside": picked(outside, _PART),
        "regions": [_region(region, report, file) for region in report.regions],
    }


_PART = "instructions uniform shared work"


def _region(region: RegionCost, report: CoarseningReport, file: Path) -> dict[str, Any]:
    planned, lines = region.planned, report.lines(region)
    return {
        **place_json(report.position(region), file),
        "first_line": lines[0] if lines else None,
        "last_line": lines[1] if lines else None,
        "block": planned.region.head,
        "treatment": planned.treatment.value,
        "reason": picked(planned.reason, "code sentence") if planned.reason else None,
        **picked(region.own, _PART),
        "regions": [_region(nested, report, file) for nested in region.nested],
    }


def _role(role: RoleCount) -> dict[str, Any]:
    by_replica = [{"replica": k, "instructions": count} for k, count in role.by_replica.items()]
    words = {"role": role.role.name.lower(), "words": role.role.value}
    return {**words, "shared": role.shared, "by_replica": by_replica}


def _array(array: LaidArray) -> dict[str, Any]:
    lies = array.arrangement
    return {
        "argument": array.argument,
        "layout": str(lies.layout),
        "order": None if lies.order is None else list(lies.order.permutation),
        "shape": None if lies.shape is None else list(lies.shape),
        "record": str(lies.record),
        "bytes": None if lies.shape is None else lies.size,
        "sentence": array.sentence,
    }


def _distinct(distinct: DistinctMemory, file: Path) -> dict[str, Any]:
    return {
        "note": distinct.note or None,
        "apart": [[distinct.names[index] for index in pair] for pair in distinct.apart],
        "accumulators": [
            {
                "name": each.name,
                **place_json(each.position, file),
                "loop_line": each.loop.line if each.loop else None,
                "reason": picked(each.left, "code sentence") if each.left else None,
            }
            for each in distinct.accumulators
        ],
    }


def _added(argument: DescribedArgument) -> dict[str, Any]:
    meaning = argument.added.meaning
    return {
        "name": argument.name,
        "meaning": meaning,
        "sentence": argument.sentence,
        "dimension": None if meaning == "local-memory" else argument.added.dimension,
        "like": None if meaning == "global-size" else argument.like,
    }


# Memory accesses.


def memory_json(report: MemoryReport, file: Path) -> dict[str, Any]:
    """Return the costs of memory accesses as data; `file` is what the user named."""
    return {
        "device": _device(report.device),
        "local_size": list(report.local_size) if report.local_size else None,
        "accesses": [_access(each, file) for each in report.accesses],
        "mending": [picked(each, "option argument condition before after") for each in report.offers],
        "pads": [_pad(each) for each in report.pads],
        "arrays": [_pad(each) for each in report.arrays],
    }


def _device(device: MemoryDevice) -> dict[str, Any]:
    banks = device.banks
    return {
        **picked(device, "lanes piece piece_bytes"),
        "banks": banks.count if banks else None,
        "word_bytes": banks.word_bytes if banks else None,
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
        "pieces": picked(cost.pieces, "least most") if cost.pieces else None,
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
    return {**picked(loop, "header line"), "bytes_between": between}


def _pad(cost: PadCost) -> dict[str, Any]:
    pads = {"asked": str(cost.asked), "pad": str(cost.pad)}
    return {"name": cost.name, **pads, **picked(cost, "before after reason")}


def place_json(position: SourcePosition | None, file: Path) -> dict[str, Any]:
    """Return the keys of a place; `file` is what the user named."""
    if position is None:
        return {"file": None, "line": None, "column": None}
    own = None if is_ir_file(file) else str(file)
    return {"file": position.file or own, "line": position.line, "column": position.column}
