"""`coarsen doctor`: what coarsen uses, what is missing, and the command that mends it."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import asdict

import typer

from coarsen.cli.diagnosis import Finding, Need, diagnose
from coarsen.cli.options import OutputFormat
from coarsen.cli.output import Format, print_json, print_table


class Verdict(enum.IntEnum):
    """The exit codes: all is there; something that coarsening needs is missing; only a device is."""

    COMPLETE = 0
    INCOMPLETE = 2
    NO_DEVICE = 4


def doctor(output_format: OutputFormat = Format.TABLE) -> None:
    """Show what coarsen uses, what is missing, and the command that mends it.

    Exit code 0 if everything is there that coarsening and running a kernel need, 4 if only what running
    needs is missing (PyOpenCL, a device that works), 2 if anything else is. What is optional (PyTorch, for
    training) does not count.
    """
    findings = list(diagnose())
    if output_format is Format.JSON:
        print_json([{**asdict(finding), "status": finding.status} for finding in findings])
    else:
        print_table(["part", "status", "details"], map(_row, findings))
    verdict = verdict_of(findings)
    if verdict is not Verdict.COMPLETE:
        raise typer.Exit(verdict)


def verdict_of(findings: Iterable[Finding]) -> Verdict:
    """Return the exit code that findings call for."""
    missing = {finding.need for finding in findings if not finding.is_there}
    if Need.TO_COARSEN in missing:
        return Verdict.INCOMPLETE
    return Verdict.NO_DEVICE if Need.TO_RUN in missing else Verdict.COMPLETE


def _row(finding: Finding) -> list[str]:
    details = finding.details if finding.is_there or not finding.mend else f"{finding.details}; {finding.mend}"
    return [finding.what, finding.status, details.removeprefix("; ")]
