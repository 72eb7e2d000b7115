"""The newest version of each kernel: what was measured before it was changed is history."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from datetime import datetime

from coarsen.opencl_bench.records.measurement import Measurement


def newest_versions(measurements: Iterable[Measurement]) -> tuple[list[Measurement], int]:
    """Return the rows of the version that was measured last, and how many others there were.

    A kernel has another version when its normalised IR, its build options or its inputs are others, with the same
    macro values, at the same preset, on the same device.

    Args:
        measurements: of any kernels and devices.

    Returns:
        the rows of the newest versions in their order, and the number of rows left out.
    """
    rows = list(measurements)
    kept = _newest(rows, _place, _version)
    return kept, len(rows) - len(kept)


def _newest(
    rows: Sequence[Measurement],
    place_of: Callable[[Measurement], Hashable],
    version_of: Callable[[Measurement], Hashable],
) -> list[Measurement]:
    """The rows whose version is that of the latest row of their place."""
    latest: dict[Hashable, Measurement] = {}
    for row in rows:
        place = place_of(row)
        if place not in latest or _time(row) >= _time(latest[place]):
            latest[place] = row
    return [row for row in rows if version_of(row) == version_of(latest[place_of(row)])]


def _case(row: Measurement) -> Hashable:
    where, subject = row.environment, row.subject
    return where.device, where.platform, where.form, subject.benchmark, subject.preset


def _place(row: Measurement) -> Hashable:
    return _case(row), row.candidate.definitions


def _version(row: Measurement) -> Hashable:
    subject = row.subject
    return subject.kernel, subject.ir_hash, subject.build_options, subject.size


def _time(row: Measurement) -> datetime:
    return datetime.fromisoformat(row.started_at)
