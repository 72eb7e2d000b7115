"""The report of `coarsen apply --report` as a table to read.

One table for each coarsening, a line for each divergent region, nested ones indented; then what stands outside of
them, and the whole kernel. Below stands why no more is done to a region, what the instructions that came of it are
for, and what the accesses to memory cost. The tables of regions fit 80 columns.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from coarsen.cli.apply.report_json import refusal_json, report_json
from coarsen.cli.apply.request import Request
from coarsen.cli.kernel_input import naming_file
from coarsen.cli.output import Format, console, counted, json_text, write_result
from coarsen.cost.lane_addresses import coarsened_size
from coarsen.cost.memory_report import memory_lines
from coarsen.errors import InvalidInputError, RefusalError, aligned, printable
from coarsen.frontend.lower import lower
from coarsen.frontend.source_text import opencl_c_of
from coarsen.ir.kernel import Kernel
from coarsen.pipeline import LaidOutKernel, Observer, for_distinct_memory, offered_tiles
from coarsen.remarks.explanation import Explanation, Marks, explain_kernel
from coarsen.remarks.report import CoarseningReport, KernelReport, Part, RegionCost, RoleCount, report_of
from coarsen.transform.coarsen import analyse
from coarsen.transform.distinct import DistinctMemory
from coarsen.transform.placement.strips import innermost_loops
from coarsen.transform.wide_accesses import WideAccesses
from coarsen.variant.coarsening import configuration_of
from coarsen.variant.transforms import DeviceKind, Tile
from coarsen.variant.variant import shape

_HEADINGS = ("region", "lines", "what is done", "instructions", "uniform", "shared", "work")
_NUMBERS = ("instructions", "uniform", "shared", "work")
_ROLE_HEADINGS = ("what they are for", "instructions", "once", "each replica")
_INDENT = "  "
_ANY_FACTOR = 2


def report_text(report: KernelReport) -> str:
    """Return the whole report, with a line break at its end."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: KernelReport) -> Iterator[str]:
    made = report.coarsened
    yield f"kernel {made.lowered.name}: {_growth(report)}"
    if report.coarsenings and made.cleaned is not None:
        yield f"Clean-up of replicas removed {counted(made.cleaned, 'instruction')}"
    for coarsening in report.coarsenings:
        yield ""
        yield from _coarsening(coarsening)
    if report.coarsenings:
        yield ""
        yield f"The {counted(report.after, 'instruction')} of the coarsened kernel:"
        yield from aligned(_ROLE_HEADINGS, [_role(each) for each in report.roles], _ROLE_HEADINGS[1:])
    if made.wide_accesses is not None:
        yield ""
        yield _wide(made.wide_accesses)
    if made.long_indices is not None:
        yield ""
        yield f"Long indices: {made.long_indices or 'none'}"
    if made.tiles is not None:
        yield ""
        yield f"Tiles of {made.variant.transforms.tile.trips} trips:"
        yield from (f"{_INDENT}{array.sentence}" for array in made.tiles.arrays)
    if made.arrays:
        yield ""
        yield "Arrays:"
        yield from (f"{_INDENT}{array.sentence}" for array in made.arrays)
    if made.distinct is not None:
        yield ""
        yield from distinct_lines(made.distinct)
    if report.added_arguments:
        yield ""
        yield "Arguments after the kernel's own:"
        yield from (f"{_INDENT}{each.name}: {each.sentence}" for each in report.added_arguments)
    if made.assumptions:
        yield ""
        yield from made.assumptions
    if memory := list(memory_lines(report.memory)):
        yield ""
        yield from memory


def _growth(report: KernelReport) -> str:
    if not report.coarsenings:
        return "not coarsened"
    return (
        f"{counted(report.before, 'instruction')} become {report.after}, "
        f"{report.per_replica:.1f} for each of {report.factor} work-items"
    )


def _wide(wide: WideAccesses) -> str:
    if not wide.wide_loads + wide.wide_stores:
        return "Wide accesses: none"
    return (
        f"Wide accesses: {counted(wide.loads, 'load')} became {wide.wide_loads}, "
        f"{counted(wide.stores, 'store')} became {wide.wide_stores}"
    )


def distinct_lines(distinct: DistinctMemory) -> Iterator[str]:
    """Yield what was gained by arguments that point to distinct memory."""
    if distinct.note:
        yield distinct.note[0].upper() + distinct.note[1:]
        return
    kept = [each for each in distinct.accumulators if each.left is None]
    yield f"Distinct arguments: {counted(len(kept), 'accumulator')} of a loop kept in a register"
    for each in distinct.accumulators:
        where = f"{_INDENT}{each.position or each.name}: {each.name}, in the loop at {each.loop or 'unknown'}"
        yield f"{where}: " + (f"[{each.left.code}] {each.left.sentence}" if each.left else "kept in a register")


def _coarsening(report: CoarseningReport) -> Iterator[str]:
    yield from _summary(report)
    rows = [row for region in report.regions for row in _rows(region, report, 0)]
    rows.append(_row("outside of regions", "", "interleaved", report.outside, report.work))
    rows.append(("whole kernel", "", "", *_whole(report), "100 %"))
    yield from aligned(_HEADINGS, rows, _NUMBERS)
    reasons = [(_where(region, report), region.planned.reason) for region in report.all() if region.planned.reason]
    if reasons:
        yield ""
        yield "Why not more:"
        yield from (f"{_INDENT}{where} [{reason.code}] {reason.sentence}" for where, reason in reasons)


def _summary(report: CoarseningReport) -> Iterator[str]:
    outermost = len(report.regions)
    if not outermost:
        yield f"{report.coarsening}: no divergent region"
        return
    nested = len(list(report.all())) - outermost
    regions = counted(outermost, "divergent region") + (f" and {nested} nested" if nested else "")
    yield f"{report.coarsening}: {regions}"
    interleaved, copied = (_percent(work, report.work) for work in (report.interleaved_work, report.copied_work))
    yield f"{interleaved} of the work is interleaved in regions, {copied} copied"


def _rows(region: RegionCost, report: CoarseningReport, depth: int) -> Iterator[tuple[str, ...]]:
    where, done = _INDENT * depth + _where(region, report), str(region.planned.treatment)
    yield _row(where, _range(report.lines(region)), done, region.own, report.work)
    for nested in region.nested:
        yield from _rows(nested, report, depth + 1)


def _row(where: str, lines: str, done: str, part: Part, work: int) -> tuple[str, ...]:
    numbers = (str(part.instructions), str(part.uniform), str(part.shared), _percent(part.work, work))
    return (where, lines, done, *numbers)


def _role(role: RoleCount) -> tuple[str, ...]:
    counts = sorted({*role.by_replica.values()})
    each = "–".join(map(str, dict.fromkeys([*counts[:1], *counts[-1:]])))
    return (role.role.value, str(role.instructions), str(role.shared), each)


def _where(region: RegionCost, report: CoarseningReport) -> str:
    position = report.position(region)
    return str(position) if position else f"block {region.planned.region.head}"


def _whole(report: CoarseningReport) -> tuple[str, ...]:
    parts = list(report.parts())
    return (
        str(sum(part.instructions for part in parts)),
        str(sum(part.uniform for part in parts)),
        str(report.shared),
    )


def _range(lines: tuple[int, int] | None) -> str:
    return "–".join(str(line) for line in dict.fromkeys(lines or ()))


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "0 %"


# Printing what coarsening does to each line of a kernel: coloured on a terminal, plain elsewhere.


def write_explanations(asked: Request, observer: Observer, output: Path | None) -> list[RefusalError]:
    """Explain kernels along each dimension; where a factor is given, with what comes of each line.

    Returns:
        The refusals of kernels that can't be coarsened.

    Raises:
        InvalidInputError: other layouts are asked for, a kernel can't be read, the output can't be written.
    """
    if asked.arrays:
        raise InvalidInputError(
            "--explain marks the source as it is: give it without --layout, --order, --place and --pad"
        )
    if asked.factors:
        asked.check()
    found, refusals = [], []
    for request in asked.for_each_kernel():
        try:
            found.append(_explained(request, observer))
        except RefusalError as refusal:
            refusals.append(refusal)
    if found and (output is not None or not sys.stdout.isatty()):
        texts = ("\n".join(map(str, explanations)) + gained for explanations, gained in found)
        write_result("\n".join(texts), output)
        return refusals
    for explanations, gained in found:
        for explanation in explanations:
            _print_coloured(explanation)
        write_result(gained, None)
    return refusals


def _explained(request: Request, observer: Observer) -> tuple[list[Explanation], str]:
    """A kernel along each dimension, and what is kept in registers if arguments point to distinct memory."""
    coarsened = request.coarsened(request.lowered(observer), observer) if request.factors else None
    for_gpu = request.transforms.device_kind is DeviceKind.GPU
    source = opencl_c_of(request.file)
    with naming_file(request.file):
        lowered = lower(request.unit, request.kernel)
        # The number of merged work-items has no effect on which lines are divergent.
        merged = configuration_of(_ANY_FACTOR, request.dimensions, level=request.levels)
        prepared, made = (coarsened.prepared or lowered, coarsened.kernel) if coarsened else (lowered, None)
        analyses = [analyse(prepared, each.dimension, each.level) for each in merged]
        explanations = [explain_kernel(analysed, source, made, for_gpu=for_gpu) for analysed in analyses]
        gained = _gained(lowered) if request.transforms.distinct else ""
        is_asked = bool(request.local_size or lowered.required_work_group_size) or for_gpu
        return explanations, gained + (_tiles(request, lowered) if is_asked else "")


def _tiles(request: Request, kernel: Kernel) -> str:
    """Say what tiles inside of loops would save of what a work-group reads, or why there are none."""
    transforms = request.transforms
    if not transforms.is_tiled:
        transforms = replace(transforms, tile=Tile("16"))
    size = kernel.required_work_group_size or request.local_size
    if size is None:
        has_loops = innermost_loops(kernel.graph.function(kernel.name))
        lines = ["Tiles inside of loops: give --local-size to see what they would save."] if has_loops else []
    else:
        variant = request.variant_of(size)
        # Refused is what can't be divided.
        coarsened_size(size, variant.coarsenings)
        before = " before coarsening" if variant.is_coarsened else ""
        tile = transforms.tile
        lines = [f"Tiles of {tile.trips} trips (--tile {tile}), in work-groups of {shape(size)}{before}:"]
        try:
            found = offered_tiles(kernel, variant, transforms)
            lines += [f"{_INDENT}{array.sentence}" for array in found.arrays]
        except RefusalError as refusal:
            lines.append(f"{_INDENT}none: {refusal.reason}")
    return "".join(f"{line}\n" for line in ("", *lines)) if lines else ""


def _gained(kernel: Kernel) -> str:
    _, found = for_distinct_memory(kernel)
    return "".join(f"{line}\n" for line in ("", *distinct_lines(found), *found.assumptions()))


def _print_coloured(explanation: Explanation) -> None:
    from rich.text import Text

    styles = {explanation.text_of(line): _style(line.marks) for line in explanation.lines}
    terminal = console()
    for text in explanation.text_lines():
        terminal.print(Text(printable(text), style=styles.get(text, "")), soft_wrap=True)


def _style(marks: Marks) -> str:
    if marks.barrier:
        return "cyan"
    if marks.assumed_uniform:
        return "magenta"
    if marks.heads:
        return "bold red"
    if marks.regions:
        return "red"
    if marks.divergent:
        return "yellow"
    return "" if marks.has_code else "dim"


def write_reports(
    requests: Sequence[Request], observer: Observer, chosen: Format, output: Path | None
) -> list[RefusalError]:
    """Coarsen kernels and write what was done to them, to standard output if there is no `output`.

    In JSON a refusal is the report of its kernel, and the reports of several kernels are a list.

    Returns:
        The refusals of kernels that can't be coarsened.

    Raises:
        InvalidInputError: a kernel can't be read, an option is out of range, the output can't be written.
    """
    refusals: list[RefusalError] = []
    if chosen is Format.JSON:
        found = [_json(request, observer, refusals) for request in requests]
        write_result(json_text(found if len(found) > 1 else found[0]), output)
        return refusals
    texts = []
    for request in requests:
        try:
            texts.append(report_text(_report(request, request.lowered(observer), observer)))
        except RefusalError as refusal:
            refusals.append(refusal)
    if texts:
        write_result("\n".join(texts), output)
    return refusals


def _json(request: Request, observer: Observer, refusals: list[RefusalError]) -> dict[str, Any]:
    """The report as data; a refusal is put to the others."""
    name = request.kernel
    try:
        lowered = request.lowered(observer)
        name = lowered.kernel.name
        return report_json(_report(request, lowered, observer), request.file)
    except RefusalError as refusal:
        refusals.append(refusal)
        return refusal_json(refusal, name or next(iter(request.unit.kernels), None), request.file)


def _report(request: Request, lowered: LaidOutKernel, observer: Observer) -> KernelReport:
    coarsened = request.coarsened(lowered, observer, counts_clean_up=True)
    report = report_of(coarsened, request.memory_device, request.local_size)
    return replace(report, memory=replace(report.memory, pads=request.pads(lowered.lowered)))
