"""The details of an internal error, in a file to be reported.

error ─▶ coarsen-error-….txt: versions, command, traceback ─▶ this is a bug in coarsen: KeyError: 'x'; report …
"""

from __future__ import annotations

import logging
import re
from pathlib import Path

from coarsen.errors import InternalError

# Shows tracebacks at the level DEBUG, which `--debug` sets.
TRACEBACKS = logging.getLogger("coarsen.tracebacks")

# Whose versions matter where something goes wrong.
_PACKAGES = ("pyopencl", "llvmlite", "numpy", "ziglang", "rich", "typer", "sqlalchemy")

# In the URL of a store.
_PASSWORD = r"(?<=://)([^\s/@:]*:)[^\s/@]*(?=@)|([?&](?:ssl)?password=)[^\s&'\"]*"

# The file of each error that has one: a program that goes on may come to the same error at each launch.
_files: dict[str, Path] = {}


def words_of(error: Exception) -> str:
    """Return what to say of an error that may happen and ends nothing; of an internal one, that it is a bug."""
    return bug_message(error) if isinstance(error, InternalError) else str(error)


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
    """Return the file of an error's details, which is written once for one error. Raises OSError."""
    details = _details(error)
    known = _files.get(details)
    if known is None or not known.exists():
        known = _files[details] = _new_file(details)
    return known


def _new_file(details: str) -> Path:
    # Imported late, as below: hardly any program comes here.
    import tempfile

    with tempfile.NamedTemporaryFile(
        "w", prefix="coarsen-error-", suffix=".txt", delete=False, encoding="utf-8", errors="backslashreplace"
    ) as file:
        file.write(details)
    return Path(file.name)


def _details(error: BaseException) -> str:
    import platform
    import shlex
    import sys
    import traceback

    from coarsen.base.version import __version__

    lines = [
        f"coarsen {__version__}, Python {platform.python_version()}, {platform.platform()}",
        f"packages: {', '.join(f'{name} {_version(name)}' for name in _PACKAGES)}",
        f"command: {shlex.join(sys.orig_argv)}",
        "",
        *traceback.format_exception(error),
    ]
    text = "\n".join(line.rstrip("\n") for line in lines) + "\n"
    return re.sub(_PASSWORD, r"\1\2***", text)


def _version(package: str) -> str:
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "none"
