"""What the layers cost a launch: `python -m tests.layer.overhead`.

They stand above functions that do nothing, so that the driver's time is not part of it: of many short rounds the
fastest counts. What a driver takes longer for queues with profiling, and to set an argument of a second kernel, is not
part of it either.
"""

from __future__ import annotations

import os
import struct
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from coarsen.layer.program import RECORDER, SUBSTITUTE, layer_library
from tests.layer.conftest import PROGRAMS, compiled_program
from tests.layer.shelf_files import Row, write_unit

WORDS = (
    "with its arguments as they were",
    "with an argument set to what it was",
    "with another argument each time",
)
SOURCE = b"kernel void none(global int *values, global int *more, int one) { *values = 2; }"
WAYS = ("of which nothing is remembered", "with remembered sizes that are others", "coarsened")


def main() -> None:
    """Print the nanoseconds that a launch, and setting its argument, takes longer with each layer."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = compiled_program(PROGRAMS / "overhead.c", folder / "program")
        (folder / "left").write_bytes(struct.pack("<QQ", 0, 0))
        row = Row(
            "none",
            b"binary",
            64,
            1024,
            64,
            1024,
            64,
            new_local=32,
            apart=(0, 1),
            objects_below=1 << 31,
            memory=(0, 1),
        )
        write_unit(folder, SOURCE, "-A", "\n\n\n", [row])
        recorded = longer(program, RECORDER, {"COARSEN_RECORDING": name}, folder)
        substituted = longer(
            program, SUBSTITUTE, {"COARSEN_SHELF": name, "COARSEN_COUNTS": str(folder / "c")}, folder
        )
    for words, more in zip(WORDS, recorded[:3], strict=True):
        print(f"recorded: a launch {words}: {more:.0f} ns more")
    for index, more in enumerate(substituted):
        print(f"a launch {WAYS[index // 3]}, {WORDS[index % 3]}: {more:.0f} ns more")


def longer(program: Path, layer: str, variables: Mapping[str, str], folder: Path) -> list[float]:
    """Return by how many nanoseconds each kind of launch takes longer with a layer."""
    environment = {**os.environ, **variables, "LAYER": str(layer_library(layer, folder))}
    done = subprocess.run([program], env=environment, check=True, capture_output=True, text=True)
    times = tuple(map(float, done.stdout.split()))
    middle = len(times) // 2
    return [with_layer - plain for plain, with_layer in zip(times[:middle], times[middle:], strict=True)]


if __name__ == "__main__":
    main()
