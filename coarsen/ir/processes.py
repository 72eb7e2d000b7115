"""LLVM in a process of its own, which may abort without taking the user's program with it.

The scripts that such processes run: `backend/spirv_process.py`, `frontend/disassemble.py`. This file starts them:
`python processes.py SCRIPT ARGUMENT…`.
"""

from __future__ import annotations

import contextlib
import ctypes
import runpy
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

_TIME_LIMIT_SECONDS = 300
_PR_SET_PDEATHSIG = 1


def output_of_script(
    script: Path, arguments: Iterable[str], content: bytes, time_limit: float = _TIME_LIMIT_SECONDS
) -> bytes:
    """Return what a script makes of a module; the script's process ends with this one, on Linux.

    Args:
        script: a Python file that reads a module, as text or bitcode, and writes what it makes of it.
        arguments: the script's arguments.
        content: of the module.
        time_limit: in seconds.

    Raises:
        ValueError: with LLVM's last words, if it gave up, or took too long.
    """
    # -P: the script's folder must not come before the standard library.
    command = [sys.executable, "-P", __file__, str(script), *arguments]
    try:
        result = subprocess.run(command, input=content, capture_output=True, check=False, timeout=time_limit)
    except subprocess.TimeoutExpired:
        raise ValueError(f"it took more than {time_limit:g} seconds") from None
    if result.returncode != 0:
        raise ValueError(_reason(result.stderr.decode(errors="replace")))
    return result.stdout


def _reason(output: str) -> str:
    # Indented lines are code, where Python says what was under way.
    lines = [line.strip() for line in output.splitlines() if line.strip() and not line.startswith(" ")]
    telling = [line for line in lines if "error" in line.lower()]
    return next(iter(telling or lines[-1:]), "it stopped without a word")


def end_with_parent() -> None:
    """Let the kernel kill this process when its parent ends, on Linux; elsewhere nothing happens."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _run_script(arguments: list[str]) -> None:
    end_with_parent()
    sys.argv = arguments
    runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    _run_script(sys.argv[1:])
