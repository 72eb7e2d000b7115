"""What the command `coarsen` runs: it says so in one line where the command line's own packages are missing.

A machine that only runs packs has the package without what it depends on.
"""

from __future__ import annotations

import sys

INVALID_INPUT = 2


def main() -> int:
    """Run the command line. Returns the exit code."""
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
