"""Criteria that no stored row decides: what other programs measured, and wrote a line of JSON for each number.

{"criterion": "12a", "device": "Intel(R) OpenCL", "value": 2.8}

`device` is a part of the name of the device or of its platform.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from coarsen.errors import InvalidInputError
from coarsen.models.inputs.acceptance import Criterion
from coarsen.opencl_bench.records.measurement import Environment

# What each number is, what it may be at most, and what is aimed at.
KNOWN: dict[str, tuple[str, float, float]] = {
    "11r": ("minutes of a whole `coarsen tune` over 24 inputs, the most of a kernel", 30.0, 10.0),
    "12a": ("dispatch over PyOpenCL's least launch, known shape, median, µs", 5.0, 2.0),
    "12b": ("dispatch over PyOpenCL's least launch, known shape, 99th percentile, µs", 20.0, 20.0),
    "12c": ("dispatch over PyOpenCL's least launch, new shape, median, µs", 15.0, 5.0),
    "12d": ("builds at launches", 0.0, 0.0),
    "15a": ("random launches by dispatch with wrong results, 500 of each kernel", 0.0, 0.0),
    "15b": ("random launches by dispatch that touched guard zones", 0.0, 0.0),
    "17c": ("tuned files of the same rows and seed with other bytes", 0.0, 0.0),
    "I2": ("OpenCL C of the shipped versions over one version's, mean over kernels", 1.4, 1.4),
    "I3": ("OpenCL C of the shipped versions over one version's, the most of a kernel", 2.5, 2.5),
    "I2b": ("binaries of the shipped versions over one version's, mean over kernels", 1.4, 1.4),
    "I3b": ("binaries of the shipped versions over one version's, the most of a kernel", 2.5, 2.5),
}


@dataclass(frozen=True, slots=True)
class Run:
    """A number that a program measured on a device."""

    criterion: str
    device: str
    value: float


def read_runs(files: Iterable[Path]) -> tuple[Run, ...]:
    """Read the numbers of some files. Raises InvalidInputError, with the line."""
    return tuple(run for file in files for run in _runs(file))


def _runs(file: Path) -> Iterator[Run]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"{file}: {error}") from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
            run = Run(str(entry["criterion"]), str(entry["device"]).strip(), float(entry["value"]))
            if not run.device or not math.isfinite(run.value):
                raise ValueError
        except (ValueError, KeyError, TypeError):
            raise InvalidInputError(
                f'{file}:{number}: write {{"criterion": "12a", "device": "NAME", "value": NUMBER}}'
            ) from None
        if run.criterion not in KNOWN:
            raise InvalidInputError(
                f"{file}:{number}: no criterion '{run.criterion}'; there are {', '.join(KNOWN)}"
            )
        yield run


def run_line(criterion: str, device: str, value: float) -> str:
    """Return the line that tells a number."""
    return json.dumps({"criterion": criterion, "device": device, "value": value})


def add_lines(file: Path, lines: Iterable[str]) -> None:
    """Add lines to a file, which may not be there yet. Raises InvalidInputError."""
    try:
        with file.open("a", encoding="utf-8") as opened:
            opened.writelines(f"{line}\n" for line in lines)
    except OSError as error:
        raise InvalidInputError(f"{file}: {error.strerror}") from None


def run_criteria(runs: Sequence[Run], environment: Environment) -> Iterator[Criterion]:
    """Yield the criteria of other programs on a device; those of which there is no number have none.

    Args:
        runs: of any device; of several of one criterion the largest counts.
        environment: the device.
    """
    names = f"{environment.platform} {environment.device} {environment.platform_version}".casefold()
    for number, (text, must, better) in KNOWN.items():
        own = [run.value for run in runs if run.criterion == number and run.device.casefold() in names]
        yield Criterion(number, text, max(own, default=None), must, better, is_most=True)
