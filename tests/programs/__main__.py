"""Other people's kernels and programs, on each device.

    python -m tests.programs FOLDER [--device NAME]... [--limit SECONDS]

Each `.cl` file below the folder that the device builds unchanged is coarsened in several ways: its kernels are
refused with a reason, or the device builds what comes out. Each `.py` file runs by PyOpenCL alone, by `coarsen
run --tune`, and by `coarsen run` with what was remembered; both have to end as the program does alone. Prints a
table, files × devices, and on standard error what went wrong; ends with 1 if anything did.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from coarsen.devices.discovery import DeviceDescription
from coarsen.variant.transforms import device_kind_of
from tests.working_devices import devices_that_work, short_name

COARSEN = (sys.executable, "-m", "coarsen")
WAYS = (
    ("--factor", "1"),
    ("--factor", "2"),
    ("--factor", "4", "--stride", "2"),
    ("--factor", "2", "--level", "group"),
    ("--factor", "4", "--fast-path", "always"),
    ("--factor", "2", "--any-size"),
)
REFUSED = 3
BUILD = """
import sys, warnings, pyopencl
from coarsen.devices.discovery import discover_devices, open_device
warnings.simplefilter("ignore")
context = pyopencl.Context([open_device(next(d for d in discover_devices() if d.index == sys.argv[1]))])
for file in sys.argv[2:]:
    pyopencl.Program(context, open(file).read()).build()
"""


class Run:
    """Runs commands for one device with a limit of time, in a home folder of their own."""

    def __init__(self, device: DeviceDescription, folder: Path, limit: float) -> None:
        """Keep what is remembered below `folder`."""
        self.device = device
        self._limit = limit
        platform, index = device.index.split(":")
        own = {name: str(folder / name) for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")}
        self._environment = {**os.environ, **own, "PYOPENCL_CTX": f"{platform}:{index}"}

    def ends(self, command: Sequence[str | Path], folder: Path) -> tuple[int | None, str]:
        """Return a command's exit code, None if it ran out of time, and what it wrote to standard error."""
        try:
            done = subprocess.run(
                list(map(str, command)),
                cwd=folder,
                env=self._environment,
                capture_output=True,
                text=True,
                timeout=self._limit,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None, f"did not end within {self._limit:g} s"
        return done.returncode, done.stderr


def wrong_texts(file: Path, run: Run, folder: Path) -> Iterator[str]:
    """Yield what is wrong with a kernel file coarsened in each way; nothing if the device doesn't build it."""
    build = sys.executable, "-c", BUILD, run.device.index
    if run.ends([*build, file], file.parent)[0] != 0:
        return
    kind = device_kind_of(run.device.device_types)
    for number, way in enumerate(WAYS):
        texts = folder / str(number)
        texts.mkdir()
        words = "apply", file, "--device-kind", kind.value, *way, "-o", texts / "coarsened.cl"
        code, said = run.ends([*COARSEN, *words], folder)
        if code in (0, REFUSED):
            # Of several kernels each has a file, but for those that are refused.
            code, said = run.ends([*build, *texts.iterdir()], folder)
        if code != 0:
            yield f"{' '.join(way)}: exit code {code}: {last_line(said)}"


def wrong_runs(file: Path, run: Run, folder: Path) -> Iterator[str]:
    """Yield in which ways a program ends otherwise than by itself, or meets an error of coarsen's own."""
    expected, _ = run.ends([sys.executable, file], file.parent)
    for way in (("run", "--tune", "--seconds", "5"), ("run",)):
        code, said = run.ends([*COARSEN, *way, file], file.parent)
        if code != expected:
            yield f"{' '.join(way)}: exit code {code}, by itself {expected}: {last_line(said)}"
        elif "bug in coarsen" in said:
            yield f"{' '.join(way)}: {next(line for line in said.splitlines() if 'bug in coarsen' in line)}"


def last_line(text: str) -> str:
    """Return the last line that says something."""
    return next((line for line in reversed(text.splitlines()) if line.strip()), "")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.programs")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--device", action="append", help="part of a device's name; all that work if left out")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for each command")
    chosen = parser.parse_args()
    files = sorted(file for file in chosen.folder.resolve().rglob("*") if file.suffix in (".cl", ".py"))
    devices = [d for d in devices_that_work() if not chosen.device or any(map(d.is_called, chosen.device))]
    if not files or not devices:
        print("there is no file to run" if devices else "no such device works", file=sys.stderr)
        return 2
    print(f"{'file':36}" + "".join(f"{short_name(device):>12}" for device in devices), flush=True)
    failed = 0
    for file in files:
        cells = []
        for device in devices:
            with tempfile.TemporaryDirectory() as folder:
                run = Run(device, Path(folder), chosen.limit)
                wrong = [*(wrong_texts if file.suffix == ".cl" else wrong_runs)(file, run, Path(folder))]
            for sentence in wrong:
                print(f"{file.name} on {short_name(device)}: {sentence}", file=sys.stderr)
            cells.append(f"{len(wrong)} wrong" if wrong else "right")
            failed += len(wrong)
        print(
            f"{file.relative_to(chosen.folder.resolve())!s:36}" + "".join(f"{cell:>12}" for cell in cells),
            flush=True,
        )
    print(f"{len(files)} files on {len(devices)} devices, {failed} commands went wrong")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
