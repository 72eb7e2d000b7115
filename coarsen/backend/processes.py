"""An LLVM back end in a process of its own, which may abort without taking the user's program with it.

The scripts that such processes run import nothing of this package: `spirv_process.py`, `amdgpu_process.py`.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

_TIME_LIMIT_SECONDS = 300


def output_of_script(
    script: Path, arguments: Iterable[str], assembly: str, time_limit: float = _TIME_LIMIT_SECONDS
) -> bytes:
    """What a script makes of a module.

    Args:
        script: a Python file that reads LLVM IR text and writes what it emits.
        arguments: the script's arguments.
        assembly: LLVM IR text.
        time_limit: in seconds.

    Raises:
        ValueError: with the back end's last words, if it gave up, or took too long.
    """
    # -P: the script's folder must not come before the standard library.
    command = [sys.executable, "-P", str(script), *arguments]
    try:
        result = subprocess.run(
            command, input=assembly.encode(), capture_output=True, check=False, timeout=time_limit
        )
    except subprocess.TimeoutExpired:
        raise ValueError(f"it took more than {time_limit:g} seconds") from None
    if result.returncode != 0:
        raise ValueError(_reason(result.stderr.decode(errors="replace")))
    return result.stdout


def _reason(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower()]
    return next(iter(telling or lines[-1:]), "it stopped without a word")
