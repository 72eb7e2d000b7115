"""The report of `coarsen apply --report` as a table to read.

One table for each coarsening, a line for each divergent region, nested ones indented; then what stands outside of
them, and the whole kernel.
"""

from __future__ import annotations

from collections.abc import Iterator

from coarsen.cli.output import aligned, counted
from coarsen.report import CoarseningReport, KernelReport, Part, RegionReport
from coarsen.source_places import Lines
from coarsen.transform.wide_accesses import WideAccesses

_HEADINGS = ("region", "lines", "what is done", "instructions", "uniform", "shared", "work", "why not more")
_NUMBERS = ("instructions", "uniform", "shared", "work")
_INDENT = "  "


def report_text(report: KernelReport) -> str:
    """The whole report, with a line break at its end."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: KernelReport) -> Iterator[str]:
    yield f"kernel {report.kernel}: {_growth(report)}"
    for coarsening in report.coarsenings:
        yield ""
        yield from _coarsening(coarsening)
    if report.wide is not None:
        yield ""
        yield _wide(report.wide)
    if report.added_arguments:
        yield ""
        yield "Arguments behind the kernel's own:"
        yield from (f"{_INDENT}{each.name}: {each.sentence}" for each in report.added_arguments)
    if report.assumptions:
        yield ""
        yield from report.assumptions


def _growth(report: KernelReport) -> str:
    if not report.coarsenings:
        return "not coarsened"
    cleaned = "" if report.cleaned is None else f" (clean-up removed {report.cleaned})"
    return (
        f"{counted(report.before, 'instruction')} become {report.after}{cleaned}, "
        f"{report.per_replica:.1f} for each of {report.factor} work-items"
    )


def _wide(wide: WideAccesses) -> str:
    if not wide.wide_loads + wide.wide_stores:
        return "Wide accesses: none"
    return (
        f"Wide accesses: {counted(wide.loads, 'load')} became {wide.wide_loads}, "
        f"{counted(wide.stores, 'store')} became {wide.wide_stores}"
    )


def _coarsening(report: CoarseningReport) -> Iterator[str]:
    yield f"{report.coarsening}: {_summary(report)}"
    rows = [row for region in report.regions for row in _rows(region, report.work, 0)]
    rows.append(_row("outside of regions", "", "once or interleaved", report.outside, report.work))
    rows.append(("whole kernel", "", "", *_whole(report), "100 %", ""))
    yield from aligned(_HEADINGS, rows, _NUMBERS)


def _summary(report: CoarseningReport) -> str:
    if not report.regions:
        return "no divergent region"
    regions = counted(len(list(report.all())), "divergent region")
    interleaved, copied = (_percent(work, report.work) for work in (report.interleaved_work, report.copied_work))
    return f"{regions}, with {interleaved} of the work interleaved and {copied} copied"


def _rows(region: RegionReport, work: int, depth: int) -> Iterator[tuple[str, ...]]:
    where = str(region.position) if region.position else f"block {region.block}"
    why = f"{region.reason.sentence} [{region.reason.code}]" if region.reason else ""
    yield _row(_INDENT * depth + where, _range(region.lines), str(region.treatment), region.own, work, why)
    for nested in region.nested:
        yield from _rows(nested, work, depth + 1)


def _row(where: str, lines: str, done: str, part: Part, work: int, why: str = "") -> tuple[str, ...]:
    numbers = (str(part.instructions), str(part.uniform), str(part.shared), _percent(part.work, work))
    return (where, lines, done, *numbers, why)


def _whole(report: CoarseningReport) -> tuple[str, ...]:
    parts = [report.outside, *(region.own for region in report.all())]
    return (
        str(sum(part.instructions for part in parts)),
        str(sum(part.uniform for part in parts)),
        str(report.shared),
    )


def _range(lines: Lines | None) -> str:
    if lines is None:
        return ""
    return str(lines.first) if lines.first == lines.last else f"{lines.first}–{lines.last}"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "0 %"
