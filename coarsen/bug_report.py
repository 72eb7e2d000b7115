"""The details of an internal error, in a file to be reported.

error ─▶ coarsen-error-….txt: versions, command, traceback ─▶ this is a bug in coarsen: KeyError: 'x'; report …
"""

from __future__ import annotations

import logging
import platform
import shlex
import sys
import tempfile
import traceback
from importlib import metadata
from pathlib import Path

from coarsen.distribution import __version__

# Shows tracebacks at the level DEBUG, which `--debug` sets.
TRACEBACKS = logging.getLogger("coarsen.tracebacks")

# Whose versions matter where something goes wrong.
_PACKAGES = ("pyopencl", "llvmlite", "numpy", "libclang", "rich", "typer", "sqlalchemy")


def bug_message(error: BaseException, is_shown: bool = False) -> str:
    """Return what to say of an internal error, in one line; its details are in a file then, which the line names.

    Args:
        error: of which nobody thought.
        is_shown: whether its traceback was shown already; else `--debug` shows it now.
    """
    if not is_shown:
        TRACEBACKS.debug("an internal error", exc_info=error)
    message = " ".join(str(error).split())
    what = f"{type(error).__name__}: {message}" if message else type(error).__name__
    try:
        where = f"report it with this file: {_written(error)}"
    except OSError:
        where = "rerun it with --debug and report what that shows"
    return f"this is a bug in coarsen: {what}; {where}"


def _written(error: BaseException) -> Path:
    """Write the details to a file of their own, and return it. Raises OSError."""
    with tempfile.NamedTemporaryFile(
        "w", prefix="coarsen-error-", suffix=".txt", delete=False, encoding="utf-8", errors="backslashreplace"
    ) as file:
        file.write(_details(error))
    return Path(file.name)


def _details(error: BaseException) -> str:
    lines = [
        f"coarsen {__version__}, Python {platform.python_version()}, {platform.platform()}",
        f"packages: {', '.join(f'{name} {_version(name)}' for name in _PACKAGES)}",
        f"command: {shlex.join(sys.argv)}",
        "",
        *traceback.format_exception(error),
    ]
    return "\n".join(line.rstrip("\n") for line in lines) + "\n"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "none"
