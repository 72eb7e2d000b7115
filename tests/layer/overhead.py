"""What the recorder costs a launch that it has seen before: `python -m tests.layer.overhead`.

It stands above functions that do nothing, so that the driver's time is not part of it: of many short rounds the
fastest counts. What a driver takes longer for queues with profiling is not part of it either.
"""

from __future__ import annotations

import os
import struct
import subprocess
import tempfile
from pathlib import Path

from coarsen.layer.program import RECORDER, layer_library
from tests.layer.conftest import PROGRAMS, compiled_program

WORDS = (
    "with its arguments as they were",
    "with an argument set to what it was",
    "with another argument each time",
)


def main() -> None:
    """Print the nanoseconds of a launch and of setting its argument, without and with the recorder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = compiled_program(PROGRAMS / "overhead.c", folder / "program")
        (folder / "left").write_bytes(struct.pack("<QQ", 0, 0))
        own = {"LAYER": str(layer_library(RECORDER, folder)), "COARSEN_RECORDING": name}
        done = subprocess.run([program], env={**os.environ, **own}, check=True, capture_output=True, text=True)
    times = tuple(map(float, done.stdout.split()))
    for words, plain, recorded in zip(WORDS, times[:3], times[3:], strict=True):
        print(f"a launch {words}: {recorded - plain:.0f} ns more")


if __name__ == "__main__":
    main()
