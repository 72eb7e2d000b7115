"""Ending of a sweep that came to nothing: in one line, and as the exit code of the command line."""

from __future__ import annotations

from collections.abc import Iterable

from coarsen.bug_report import bug_message
from coarsen.errors import CoarsenError, InternalError, InvalidInputError, VerificationError
from coarsen.opencl_bench.records.measurement import Invalidity, Measurement


def problem_of(error: Exception) -> tuple[str, int]:
    """Return an error in one line, and its exit code."""
    text = " ".join(str(error).split())
    if isinstance(error, CoarsenError) and not isinstance(error, InternalError):
        return text, error.exit_code
    return bug_message(error), InternalError.exit_code


def exit_code_without_baseline(rows: Iterable[Measurement]) -> int:
    """Return the exit code where no uncoarsened configuration runs correctly.

    The device works, but there is nothing that others could be verified against.
    """
    endings = {row.invalidity for row in rows}
    has_run = endings & {Invalidity.CORRECTNESS, Invalidity.RUNTIME, Invalidity.TIMEOUT}
    return VerificationError.exit_code if has_run else InvalidInputError.exit_code
