"""Writing the report of `coarsen apply --report`, to a file or to standard output."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from coarsen.cli.apply_request import Request
from coarsen.cli.output import Format, json_text, write_result
from coarsen.cli.report_json import refusal_json, report_json
from coarsen.cli.report_text import report_text
from coarsen.errors import RefusalError
from coarsen.pipeline import LaidOutKernel, Observer
from coarsen.report import KernelReport, report_of


def write_report(request: Request, observer: Observer, chosen: Format, output: Path | None) -> None:
    """Coarsen a kernel and write what was done to it, to standard output if there is no `output`.

    A refusal is the whole report where JSON was chosen; as text, the error itself says so.

    Raises:
        RefusalError: the kernel can't be coarsened; in JSON that has been written then.
        InvalidInputError: the kernel can't be read, an option is out of range, the output can't be written.
    """
    if chosen is Format.JSON:
        write_result(json_text(_json(request, observer, output)), output)
    else:
        write_result(report_text(_report(request, request.lowered(observer), observer)), output)


def _json(request: Request, observer: Observer, output: Path | None) -> dict[str, Any]:
    """The report as data. Writes a refusal before it raises it."""
    name = request.kernel
    try:
        lowered = request.lowered(observer)
        name = lowered.kernel.name
        return report_json(_report(request, lowered, observer), request.file)
    except RefusalError as refusal:
        name = name or next(iter(request.unit.kernels), None)
        write_result(json_text(refusal_json(refusal, name, request.file)), output)
        raise


def _report(request: Request, lowered: LaidOutKernel, observer: Observer) -> KernelReport:
    coarsened = request.coarsened(lowered, observer, counts_clean_up=True)
    report = report_of(coarsened, request.memory_device, request.local_size)
    memory = None if report.memory is None else replace(report.memory, pads=request.pads(lowered.lowered))
    return replace(report, memory=memory)
