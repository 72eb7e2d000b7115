"""What the recorder costs a launch that it has seen before: `python -m tests.layer.overhead [PLATFORM]`.

The same program runs without and with the recorder, in turns; the shortest of all rounds counts. A
launch is timed on the host: the call that makes it, with an argument set before it or not.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from coarsen.devices.drivers import packaged_loader, prepare_loader
from coarsen.layer.program import recording_environment
from tests.layer.conftest import PROGRAMS, compiled_program

TURNS = 5


def main(platform: str) -> None:
    """Print the nanoseconds of a launch without and with the recorder, and the milliseconds of the process."""
    prepare_loader(is_for_program=True)
    loader = packaged_loader()
    assert loader is not None
    os.environ["PYOPENCL_HOME"] = str(loader.parents[1])
    os.environ["PLATFORM"] = platform
    found: dict[bool, list[tuple[float, float]]] = {False: [], True: []}
    with tempfile.TemporaryDirectory() as folder:
        source, program = PROGRAMS / "launches.c", Path(folder, "launches")
        compiled_program(source, program, str(loader), "-rpath", str(loader.parent))
        for turn in range(2 * TURNS):
            is_recorded = turn % 2 == 1
            logs = Path(folder, str(turn))
            logs.mkdir()
            (logs / "left").write_bytes(struct.pack("<QQ", 1 << 30, 1 << 30))
            environment = recording_environment(program, logs) if is_recorded else dict(os.environ)
            start = time.perf_counter()
            done = subprocess.run([program], env=environment, check=True, capture_output=True, text=True)
            same, changed = map(float, done.stdout.split())
            found[is_recorded].append((same, changed))
            sys.stderr.write(
                f"{'recorded' if is_recorded else 'plain'}: {same:.0f} and {changed:.0f} ns a launch, "
            )
            sys.stderr.write(f"{time.perf_counter() - start:.2f} s\n")
    for place, words in enumerate(("with the arguments as they were", "with an argument set")):
        plain, recorded = (min(each[place] for each in found[key]) for key in (False, True))
        print(f"a launch {words}: {plain:.0f} ns, recorded {recorded:.0f} ns: {recorded - plain:.0f} ns more")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "Intel")
