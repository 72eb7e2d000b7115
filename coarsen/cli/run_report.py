"""The report of `coarsen run --report`: what each kernel gained by what is on the shelf, and what that cost."""

from __future__ import annotations

import logging
import struct
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from coarsen.base.files import replace_file
from coarsen.cli.output import counted, json_text, picked
from coarsen.errors import NOTE, aligned, printable
from coarsen.layer.program import counted_run
from coarsen.layer.script import Script
from coarsen.layer.unit import SUFFIX, read_rows

_log = logging.getLogger("coarsen")

_REPORT_FORMAT = 2
_NUMBERS = ("launches", "coarsened", "saved")
_COUNT = struct.Struct("<QIIQ")  # unit, row, nothing, launches; of the first one: nanoseconds at the start
_LEFT_ALONE = 1 << 31  # of a row: its kernel's launches that no row took
# What the layer takes for a launch, in nanoseconds, as `tests/layer/overhead.py` measures it at most.
_NANOSECONDS_OF_LAUNCH, _NANOSECONDS_COARSENED = 100, 500


class KernelGain(NamedTuple):
    """The launches of a kernel of which something is remembered, in all programs with one of its name.

    Attributes:
        kernel: its name.
        launches: their number.
        coarsened: how many of them ran otherwise than the program launched them.
        nanoseconds_saved: estimated as launches times what tuning measured.
    """

    kernel: str
    launches: int
    coarsened: int
    nanoseconds_saved: int


class ReportedRun(NamedTuple):
    """A run with counted launches.

    Attributes:
        exit_code: the program's.
        seconds: that it took.
        processes: how many of its processes loaded the layer.
        kernels: those of which something is remembered, which gained most first.
        nanoseconds_at_start: that the layer took to look up and build what is remembered.
    """

    exit_code: int
    seconds: float
    processes: int
    kernels: tuple[KernelGain, ...]
    nanoseconds_at_start: int

    @property
    def nanoseconds_of_launches(self) -> int:
        """Return what the layer took for all launches of these kernels, at most."""
        return sum(
            _NANOSECONDS_COARSENED * each.coarsened + _NANOSECONDS_OF_LAUNCH * (each.launches - each.coarsened)
            for each in self.kernels
        )

    @property
    def nanoseconds_gained(self) -> int:
        """Return what the program gained as a whole."""
        saved = sum(each.nanoseconds_saved for each in self.kernels)
        return saved - self.nanoseconds_at_start - self.nanoseconds_of_launches


def reported_run(script: Script, program: Path | None, shelf: Path, file: Path | None) -> int:
    """Run a program and say what it gained, on standard error or as JSON in a file. Returns its exit code.

    Args:
        script: the program and its arguments.
        program: its file; None where it is one in Python.
        shelf: the folder of units.
        file: of the report; None for a table.

    Raises:
        InvalidInputError: the program can't be started, or not be given the layer; the file can't be written.
    """
    # The program may go to another folder.
    place = None if file is None else file.absolute()
    with tempfile.TemporaryDirectory(prefix="coarsen-counts-", ignore_cleanup_errors=True) as name:
        counts = Path(name)
        exit_code, seconds = counted_run(script, program, shelf, counts)
        run = read_counts(exit_code, seconds, shelf, sorted(counts.iterdir()))
    if place is None:
        print_lines(gain_lines(script, run))
    else:
        replace_file(json_text(gains_as_data(script, run)).encode(), place)
    return exit_code


def read_counts(exit_code: int, seconds: float, shelf: Path, files: Sequence[Path]) -> ReportedRun:
    """Return what the layer counted in all processes of a program."""
    launches: Counter[str] = Counter()
    coarsened: Counter[str] = Counter()
    saved: Counter[str] = Counter()
    at_start = 0
    for file in files:
        data = file.read_bytes()
        if len(data) < _COUNT.size:  # the disk was full, or the process was killed at its start
            continue
        first, *records = _COUNT.iter_unpack(data[: len(data) // _COUNT.size * _COUNT.size])
        at_start += first[-1]
        for unit, number, _, count in records:
            if not unit:
                break
            rows = read_rows(shelf / f"{unit:016x}{SUFFIX}")
            is_left_alone, number = number & _LEFT_ALONE, number & ~_LEFT_ALONE
            if number >= len(rows):  # it was written anew meanwhile
                continue
            kernel = rows[number].kernel
            launches[kernel] += count
            if not is_left_alone:
                coarsened[kernel] += count
                saved[kernel] += count * rows[number].saved
    kernels = (KernelGain(name, count, coarsened[name], saved[name]) for name, count in launches.items() if count)
    ordered = sorted(kernels, key=lambda each: -each.nanoseconds_saved)
    return ReportedRun(exit_code, seconds, len(files), tuple(ordered), at_start)


def gain_lines(script: Script, run: ReportedRun) -> Iterator[str]:
    """Return the lines of the report."""
    yield ""
    if not run.kernels:
        seen = "launched no kernel of which anything is remembered" if run.processes else "ran as without coarsen"
        yield f"coarsen: {script} {seen}; coarsen run --tune finds out what is faster"
        return
    launches = sum(each.launches for each in run.kernels)
    kernels = counted(len(run.kernels), "kernel")
    yield f"coarsen: {counted(launches, 'launch', 'launches')} of {kernels} of which something is remembered"
    columns = {
        "kernel": [each.kernel for each in run.kernels],
        "launches": [str(each.launches) for each in run.kernels],
        "coarsened": [str(each.coarsened) for each in run.kernels],
        "saved": [time_text(each.nanoseconds_saved) for each in run.kernels],
    }
    yield from aligned(list(columns), zip(*columns.values(), strict=True), _NUMBERS)
    yield "saved is launches times what tuning measured of one"
    yield (
        f"the layer took {time_text(run.nanoseconds_at_start)} to start and at most "
        f"{time_text(run.nanoseconds_of_launches)} for these launches"
    )
    whole = time_text(run.seconds * 1e9)
    yield f"gained as a whole: {time_text(run.nanoseconds_gained)}; this run took {whole}"


def print_lines(lines: Iterable[str]) -> None:
    """Print lines of a report on standard error, unless -q was given."""
    if _log.isEnabledFor(NOTE):
        for line in lines:
            sys.stderr.write(f"{printable(line)}\n")
        sys.stderr.flush()


def gains_as_data(script: Script, run: ReportedRun) -> dict[str, Any]:
    """Return the report for JSON."""
    return {
        "format": _REPORT_FORMAT,
        "program": script.name,
        "arguments": list(script.arguments),
        **picked(run, "exit_code seconds processes"),
        **picked(run, "nanoseconds_at_start nanoseconds_of_launches nanoseconds_gained"),
        "kernels": [picked(each, "kernel launches coarsened nanoseconds_saved") for each in run.kernels],
    }


def time_text(nanoseconds: float) -> str:
    """Return a time with its unit: `1.25 ms`."""
    for unit, size in (("s", 1e9), ("ms", 1e6)):
        if abs(nanoseconds) >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds / 1e3:.3g} µs"
