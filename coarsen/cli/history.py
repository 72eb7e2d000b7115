"""Leave out rows of kernels that were edited since, and say so."""

from __future__ import annotations

from collections.abc import Iterable

from coarsen.cli.messages import note
from coarsen.opencl_bench.records.measurement import Measurement
from coarsen.opencl_bench.results.versions import newest_versions


def without_history(measurements: Iterable[Measurement]) -> list[Measurement]:
    """Return the rows of each kernel's newest version; says how many others there are."""
    rows, others = newest_versions(measurements)
    say_left_out(others)
    return rows


def say_left_out(others: int) -> None:
    """Say how many rows of earlier versions are not shown, if there are any."""
    if others:
        note(f"{others} row{'' if others == 1 else 's'} of earlier versions of a kernel left out")
