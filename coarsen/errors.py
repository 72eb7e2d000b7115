"""Every error that coarsen raises on purpose, with the exit code that the command line gives it."""

from __future__ import annotations

from dataclasses import dataclass

from coarsen.printable import readable


@dataclass(frozen=True, slots=True)
class SourcePosition:
    """A place in a kernel's source: file name as clang saw it (empty when unknown), line and column from 1."""

    line: int
    column: int
    file: str = ""

    def __str__(self) -> str:
        prefix = f"{self.file}:" if self.file else ""
        return f"{prefix}{self.line}:{self.column}"


class CoarsenError(Exception):
    """Base of all errors of this package; `exit_code` is what the command line exits with.

    Messages quote files of any origin: what a terminal would obey is shown, wherever they are printed, and a line
    that is too long lacks its middle.
    """

    exit_code = 1

    def __init__(self, *arguments: object) -> None:
        super().__init__(*(readable(each) if isinstance(each, str) else each for each in arguments))


class InternalError(CoarsenError):
    """A bug in coarsen itself; the message says what to report."""

    exit_code = 1


class InvalidInputError(CoarsenError):
    """A file, an option or a value that can't be used; the message is one line, clang's diagnostics apart."""

    exit_code = 2


class RefusalError(CoarsenError):
    """The kernel can't be coarsened faithfully.

    `code` is stable (for scripts), `reason` one sentence, `position` the source line and column if known.
    """

    exit_code = 3

    def __init__(self, code: str, reason: str, position: SourcePosition | None = None) -> None:
        self.code = code
        self.reason = reason
        self.position = position
        where = f"{position}: " if position else ""
        super().__init__(f"{where}{reason} [{code}]")


class DeviceError(CoarsenError):
    """No usable OpenCL device, an ambiguous or unknown one, or one that failed."""

    exit_code = 4


class VerificationError(CoarsenError):
    """A coarsened kernel gave other results than the original."""

    exit_code = 5
