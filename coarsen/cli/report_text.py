"""The report of `coarsen apply --report` as a table to read.

One table for each coarsening, a line for each divergent region, nested ones indented; then what stands outside of
them, and the whole kernel. Below stands why no more is done to a region, what the instructions that came of it are
for, and what the accesses to memory cost. The tables of regions fit 80 columns.
"""

from __future__ import annotations

from collections.abc import Iterator

from coarsen.cli.output import counted
from coarsen.cost.memory_report import memory_lines
from coarsen.cost.plan_cost import Part
from coarsen.printable import aligned
from coarsen.report import CoarseningReport, KernelReport, RegionReport, RoleCount
from coarsen.source_places import Lines
from coarsen.transform.distinct import DistinctMemory
from coarsen.transform.wide_accesses import WideAccesses

_HEADINGS = ("region", "lines", "what is done", "instructions", "uniform", "shared", "work")
_NUMBERS = ("instructions", "uniform", "shared", "work")
_ROLE_HEADINGS = ("what they are for", "instructions", "once", "each replica")
_INDENT = "  "


def report_text(report: KernelReport) -> str:
    """Return the whole report, with a line break at its end."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: KernelReport) -> Iterator[str]:
    yield f"kernel {report.kernel}: {_growth(report)}"
    if report.coarsenings and report.cleaned is not None:
        yield f"Clean-up removed {counted(report.cleaned, 'instruction')}"
    for coarsening in report.coarsenings:
        yield ""
        yield from _coarsening(coarsening)
    if report.coarsenings:
        yield ""
        yield f"The {counted(report.after, 'instruction')} of the coarsened kernel:"
        yield from aligned(_ROLE_HEADINGS, [_role(each) for each in report.roles], _ROLE_HEADINGS[1:])
    if report.wide is not None:
        yield ""
        yield _wide(report.wide)
    if report.arrays:
        yield ""
        yield "Arrays:"
        yield from (f"{_INDENT}{array.sentence}" for array in report.arrays)
    if report.distinct is not None:
        yield ""
        yield from distinct_lines(report.distinct)
    if report.added_arguments:
        yield ""
        yield "Arguments after the kernel's own:"
        yield from (f"{_INDENT}{each.name}: {each.sentence}" for each in report.added_arguments)
    if report.assumptions:
        yield ""
        yield from report.assumptions
    told = list(memory_lines(report.memory)) if report.memory is not None else []
    if told:
        yield ""
        yield from told


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
    rows = [row for region in report.regions for row in _rows(region, report.cost.work, 0)]
    rows.append(_row("outside of regions", "", "interleaved", report.cost.outside, report.cost.work))
    rows.append(("whole kernel", "", "", *_whole(report), "100 %"))
    yield from aligned(_HEADINGS, rows, _NUMBERS)
    reasons = [(_where(region), region.reason) for region in report.all() if region.reason]
    if reasons:
        yield ""
        yield "Why not more:"
        yield from (f"{_INDENT}{where} [{reason.code}] {reason.sentence}" for where, reason in reasons)


def _summary(report: CoarseningReport) -> Iterator[str]:
    if not report.regions:
        yield f"{report.coarsening}: no divergent region"
        return
    nested = len(list(report.all())) - len(report.regions)
    regions = counted(len(report.regions), "divergent region") + (f" and {nested} nested" if nested else "")
    yield f"{report.coarsening}: {regions}"
    interleaved, copied = (
        _percent(work, report.cost.work) for work in (report.interleaved_work, report.copied_work)
    )
    yield f"{interleaved} of the work is interleaved in regions, {copied} copied"


def _rows(region: RegionReport, work: int, depth: int) -> Iterator[tuple[str, ...]]:
    where = _INDENT * depth + _where(region)
    yield _row(where, _range(region.lines), str(region.treatment), region.own, work)
    for nested in region.nested:
        yield from _rows(nested, work, depth + 1)


def _row(where: str, lines: str, done: str, part: Part, work: int) -> tuple[str, ...]:
    numbers = (str(part.instructions), str(part.uniform), str(part.shared), _percent(part.work, work))
    return (where, lines, done, *numbers)


def _role(role: RoleCount) -> tuple[str, ...]:
    counts = sorted({*role.by_replica.values()})
    each = "–".join(map(str, dict.fromkeys([*counts[:1], *counts[-1:]])))
    return (role.role.value, str(role.instructions), str(role.shared), each)


def _where(region: RegionReport) -> str:
    return str(region.position) if region.position else f"block {region.block}"


def _whole(report: CoarseningReport) -> tuple[str, ...]:
    parts = list(report.cost.parts())
    return (
        str(sum(part.instructions for part in parts)),
        str(sum(part.uniform for part in parts)),
        str(report.cost.shared),
    )


def _range(lines: Lines | None) -> str:
    if lines is None:
        return ""
    return str(lines.first) if lines.first == lines.last else f"{lines.first}–{lines.last}"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "0 %"
