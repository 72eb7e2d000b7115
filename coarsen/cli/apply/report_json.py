"""The report of `coarsen apply --report --format json`; its keys are stable.

    kernel              the kernel's name
    refusal             null, or why the kernel can't be coarsened:
        code                one of `coarsen.base.codes.REFUSALS`
        reason              a sentence
        file, line, column  where in the source, from 1; null where that isn't known

The rest is there unless the kernel is refused:

    instructions        of the kernel (`before`), of the coarsened one (`after`), `per_replica` of the latter;
                        `cleaned`: how many the clean-up removed, null where it is turned off
    coarsenings         a list in the order in which they were carried out, of
        factor, dimension, stride, level
        shared              instructions that the replicas need not repeat, estimated
        work                of one work-item, weighted by loops: `outside` of divergent regions, in regions whose
                            replicas are `interleaved` while they agree, in regions of `copies`
        outside             instructions, uniform, shared, work of what stands outside of divergent regions
        regions             a list in the order of the code, of
            file, line, column  of the branch that begins it; null where that isn't known
            first_line, last_line   of its code in the kernel itself, an inlined call's where it stands, or null
            block               the name of the block, in LLVM IR, whose branch begins it
            treatment           "copies", "fast path" or "lock-step"
            reason              null, or why not more: code (of `coarsen.base.codes.REGION_REASONS`), sentence
            instructions, uniform, shared, work     without those of nested regions
            regions             the nested ones, alike
    roles               what the instructions of the coarsened kernel are for, a list of
        role                "source", "id", "guard", "vote", "diverged", "slow_path", "replica_loop", "wide" or
                            "compiler"
        words               the same in words
        shared              instructions that stand once
        by_replica          how many are replica 0's, 1's, …: a list of `replica`, `instructions`
    wide_accesses       null where they are not asked for, or how many `loads` became how many `wide_loads`, and
                        how many `stores` how many `wide_stores`
    distinct            null where distinct arguments are not asked for, else
        note                why nothing is gained by them, or null
        apart               pairs of names of arguments that must not lead to the same memory
        accumulators        locations that loops write at addresses that do not change, a list of
            name                of the argument or variable in which it lies
            file, line, column  of its first access in the loop; null where that isn't known
            loop_line           where the loop begins, or null
            reason              null where it is kept in a register, else why not: code (of
                                `coarsen.base.codes.ACCUMULATOR_REASONS`), sentence
    added_arguments     what a launch passes after the kernel's own arguments, a list of
        name, meaning, sentence     what to pass, in words
        dimension           for "global-size": the original launch's size along it; for "extent": the array's;
                            else null
        like                for "local-memory": the name of the argument whose size it has; for "extent": that of
                            the array; else null
    arrays              arguments' arrays that are to lie otherwise, a list of
        argument, layout    its name; "aos", "soa", "aosoa:32", "deep-soa" or the like
        order               of its dimensions in memory, a list of numbers, or null
        shape               for which the kernel is compiled, a list of extents, or null
        record              of its elements, as text: size, then each field as size@offset
        bytes               of the packed array; null where that depends on the launch
        sentence            what the host has to do
    assumptions         what was taken for granted, a list of sentences
    memory              what accesses to memory cost, as `memory_json.py` says
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.analysis.expression_text import expression_text
from coarsen.cli.kernel_input import is_ir_file
from coarsen.cli.output import picked
from coarsen.cost.access_costs import AccessCost, LoopReuse
from coarsen.cost.banks import MemoryDevice
from coarsen.cost.memory_report import MemoryReport
from coarsen.cost.pads import LocalArray
from coarsen.errors import RefusalError, SourcePosition
from coarsen.ir.added_arguments import DescribedArgument
from coarsen.remarks.report import CoarseningReport, KernelReport, RegionReport, RoleCount
from coarsen.transform.distinct import DistinctMemory
from coarsen.transform.layouts.lay_out import LaidArray


def report_json(report: KernelReport, file: Path) -> dict[str, Any]:
    """Return the report of a kernel that was coarsened; `file` is what the user named."""
    return {
        "kernel": report.kernel,
        "refusal": None,
        "instructions": picked(report, "before after per_replica cleaned"),
        "coarsenings": [_coarsening(each, file) for each in report.coarsenings],
        "roles": [_role(each) for each in report.roles],
        "wide_accesses": picked(report.wide, "loads wide_loads stores wide_stores") if report.wide else None,
        "distinct": _distinct(report.distinct, file) if report.distinct else None,
        "added_arguments": [_added(argument) for argument in report.added_arguments],
        "arrays": [_array(array) for array in report.arrays],
        "assumptions": list(report.assumptions),
        "memory": memory_json(report.memory, file) if report.memory else None,
    }


def refusal_json(refusal: RefusalError, kernel: str | None, file: Path) -> dict[str, Any]:
    """Return the report of a kernel that was refused; `kernel` is its name if it was given."""
    return {"kernel": kernel, "refusal": {**picked(refusal, "code reason"), **place_json(refusal.position, file)}}


def _coarsening(report: CoarseningReport, file: Path) -> dict[str, Any]:
    outside = report.cost.outside
    work = {"outside": outside.work, "interleaved": report.interleaved_work, "copies": report.copied_work}
    return {
        **picked(report.coarsening, "factor dimension stride level"),
        "shared": report.cost.shared,
        "work": work,
        "outside": picked(outside, _PART),
        "regions": [_region(region, file) for region in report.regions],
    }


_PART = "instructions uniform shared work"


def _region(region: RegionReport, file: Path) -> dict[str, Any]:
    lines = region.lines
    return {
        **place_json(region.position, file),
        "first_line": lines.first if lines else None,
        "last_line": lines.last if lines else None,
        **picked(region, "block treatment"),
        "reason": picked(region.reason, "code sentence") if region.reason else None,
        **picked(region.own, _PART),
        "regions": [_region(nested, file) for nested in region.nested],
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


# What is told of memory accesses, in the report of `coarsen apply --report --format json`; its keys are stable.
#
# device              `lanes` of a sub-group; `piece` ("sector" or "cache line") of `piece_bytes`; `banks` and
#                   `word_bytes` of local memory, null without banks; `assumed`: what is taken for granted, or ""
# local_size          of the coarsened launch, three numbers; null where it isn't known: lanes along dimension 0
# accesses            a list in the order of the code, of
#   file, line, column  in the source; null where that isn't known
#   to                  the argument or variable, null where that isn't known
#   kind                "load" or "store"; a read-modify-write is a store
#   bytes               that a work-item touches
#   strides             along dimensions 0, 1, 2: bytes to the next work-item of the coarsened kernel, a number or
#                       a text over sizes; null where it is not the same everywhere
#   replica_strides     bytes to the next merged work-item, for each coarsening, alike
#   pieces              null where unknown or local, or `least` and `most` sectors or lines for a sub-group
#   bank_degree         null where unknown, not local or without banks, or `degree` and `least` possible
#   away_from_edges     whether these numbers hold away from edges only (`min(id, n - 1)`)
#   shared_along        the dimensions along which work-items of a group access the same bytes
#   loops               that repeat it, a list of `header`, `line`, `bytes_between` (a text, null where unknown)
# mending             what would touch fewer, a list of
#   option, argument    of `coarsen apply`; `argument` null where it concerns all
#   condition           what has to hold, a sentence
#   before, after       pieces that a sub-group touches, at most, over the accesses that change
# pads                of local arrays that were asked for, a list of
#   name, asked, pad    the array; what was asked for, and what is done: a number of elements, as a text, or "xor"
#   before, after       the sum of bank degrees over all accesses; null where it isn't known
#   reason              why not, or ""
# arrays              in local memory whose rows are better padded, a list of
#   name, row_elements, element_bytes
#   pad_words           words to add to each row
#   before, after       the sum of bank degrees over all references
#   swizzle             null, or `mask`, `unit_bytes`, and `after` with unit ^ (row & mask) in place of a pad


def memory_json(report: MemoryReport, file: Path) -> dict[str, Any]:
    """Return what is told of memory accesses as data; `file` is what the user named."""
    return {
        "device": _device(report.device),
        "local_size": list(report.local_size) if report.local_size else None,
        "accesses": [_access(each, file) for each in report.accesses],
        "mending": [picked(each, "option argument condition before after") for each in report.offers],
        "pads": [
            {
                "name": each.name,
                "asked": str(each.asked),
                "pad": str(each.pad),
                **picked(each, "before after reason"),
            }
            for each in report.pads
        ],
        "arrays": [_padded_array(each) for each in report.arrays],
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


def _padded_array(array: LocalArray) -> dict[str, Any]:
    swizzle, padding = array.swizzle, array.padding
    return {
        **picked(array, "name row_elements element_bytes"),
        "pad_words": padding.words,
        "before": padding.unpadded_cost,
        "after": padding.cost,
        "swizzle": {**picked(swizzle, "mask unit_bytes"), "after": swizzle.cost} if swizzle else None,
    }


def place_json(position: SourcePosition | None, file: Path) -> dict[str, Any]:
    """Return the keys of a place; `file` is what the user named."""
    if position is None:
        return {"file": None, "line": None, "column": None}
    own = None if is_ir_file(file) else str(file)
    return {"file": position.file or own, "line": position.line, "column": position.column}
