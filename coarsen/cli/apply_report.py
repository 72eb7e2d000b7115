"""Writing the report of `coarsen apply --report`, to a file or to standard output."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from coarsen.cli.apply_request import Request
from coarsen.cli.kernel_input import lower_file
from coarsen.cli.output import Format, json_text, write_result
from coarsen.cli.report_json import refusal_json, report_json
from coarsen.cli.report_text import report_text
from coarsen.errors import RefusalError
from coarsen.frontend.lower import list_kernels
from coarsen.pipeline import Observer, coarsen_kernel
from coarsen.report import KernelReport, report_of


def write_report(request: Request, observer: Observer, chosen: Format, output: Path | None) -> None:
    """Coarsen a kernel and write what was done to it, to standard output if there is no `output`.

    A refusal is the whole report where JSON was chosen; as text, the error itself says so.

    Raises:
        RefusalError: the kernel can't be coarsened; in JSON that has been written then.
        InvalidInputError: the kernel can't be read, an option is out of range, the output can't be written.
    """
    try:
        report = _report(request, observer)
    except RefusalError as refusal:
        if chosen is Format.JSON:
            write_result(json_text(refusal_json(refusal, _kernel_name(request), request.file)), output)
        raise
    is_json = chosen is Format.JSON
    write_result(json_text(report_json(report, request.file)) if is_json else report_text(report), output)


def _report(request: Request, observer: Observer) -> KernelReport:
    coarsened = request.coarsened(observer)
    # Lowered once more for the places in the source, which the coarsened kernel has not kept.
    lowered = lower_file(request.file, coarsened.kernel.name, request.options, request.macros)
    chosen, transforms = coarsened.configuration, request.transforms
    not_cleaned = (
        coarsen_kernel(lowered, chosen, None, replace(transforms, clean_up=False), request.any_size)
        if transforms.clean_up
        else None
    )
    return report_of(
        lowered,
        chosen,
        coarsened.plans,
        coarsened.kernel,
        coarsened.assumptions,
        not_cleaned,
        coarsened.wide_accesses,
    )


def _kernel_name(request: Request) -> str | None:
    """The name that was given, or that of the only kernel."""
    return request.kernel or next(iter(list_kernels(request.file, request.options, request.macros)), None)
