"""The entry of the command `coarsen`: says in one line if the command line's own packages are missing.

A machine that only runs packs has the package without what it depends on.
"""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

INVALID_INPUT = 2
_OBJECTS_UNTIL_COLLECTED = 100_000


def main() -> int:
    """Run the command line. Returns the exit code."""
    _replace_closed_streams()
    # Modules are no garbage.
    gc.set_threshold(_OBJECTS_UNTIL_COLLECTED)
    code = _plain_run(sys.argv[2:]) if sys.argv[1:2] == ["run"] else None
    if code is not None:
        return code
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
    code = command_line()
    if "pyopencl" not in sys.modules:
        # Python looks for garbage once more as it ends: where no driver is loaded, none of it has to be closed.
        gc.freeze()
    return code


def _plain_run(words: list[str]) -> int | None:
    """Run a program without loading typer; None for words that it has to read."""
    from coarsen.cli.messages import Settings, exit_code_of
    from coarsen.cli.running import plain_run

    settings = Settings(command="coarsen run")
    run = plain_run(words, settings)
    return None if run is None else exit_code_of(run, settings)


def _replace_closed_streams() -> None:
    """Replace standard streams that were closed before Python started (`>&-`), for which it has None."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 (until the process ends)
