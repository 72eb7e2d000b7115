"""The entry of the command `coarsen`: says in one line if the command line's own packages are missing.

A machine that only runs packs has the package without what it depends on.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

INVALID_INPUT = 2


def main() -> int:
    """Run the command line. Returns the exit code."""
    _replace_closed_streams()
    try:
        from coarsen.cli.main import main as command_line
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "coarsen":
            raise
        sys.stderr.write(
            f"coarsen: error: the command line needs {error.name}: pip install coarsen; "
            "without it, python -m coarsen.opencl_bench.run_pack runs a pack\n"
        )
        return INVALID_INPUT
    return command_line()


def _replace_closed_streams() -> None:
    """Replace standard streams that were closed before Python started (`>&-`), for which it has None."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 (until the process ends)
