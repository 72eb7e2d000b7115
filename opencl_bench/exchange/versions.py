"""The newest version of each kernel: what was measured before it, or the transform, was changed is history."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from datetime import datetime

from ..environment import TRANSFORM
from ..measurement import Measurement


def newest_versions(measurements: Iterable[Measurement]) -> tuple[list[Measurement], int]:
    """The rows of the version that was measured last, and how many others there were.

    A kernel has another version when its normalised IR, its build options, its inputs or the version of the
    transform are others, with the same macro values, at the same preset, on the same device.

    Args:
        measurements: of any kernels and devices.

    Returns:
        the rows of the newest versions in their order, and the number of rows left out.
    """
    rows = list(measurements)
    newest: dict[Hashable, Measurement] = {}
    for row in rows:
        place = _place(row)
        if place not in newest or _time(row) >= _time(newest[place]):
            newest[place] = row
    kept = [row for row in rows if _version(row) == _version(newest[_place(row)])]
    return kept, len(rows) - len(kept)


def _place(row: Measurement) -> Hashable:
    where, subject = row.environment, row.subject
    return where.device, where.platform, where.form, subject.benchmark, subject.preset, row.candidate.definitions


def _version(row: Measurement) -> Hashable:
    subject, transform = row.subject, dict(row.environment.versions).get(TRANSFORM)
    return subject.kernel, subject.ir_hash, subject.build_options, subject.size, transform


def _time(row: Measurement) -> datetime:
    return datetime.fromisoformat(row.started_at)
