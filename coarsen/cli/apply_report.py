"""Writing the report of `coarsen apply --report`, to a file or to standard output."""

from __future__ import annotations

from collections.abc import Sequence
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
    memory = None if report.memory is None else replace(report.memory, pads=request.pads(lowered.lowered))
    return replace(report, memory=memory)
