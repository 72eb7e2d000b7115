"""Which rows count: the newest version of each kernel, and the preset that was measured last."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from coarsen.opencl_bench.results.best import case_of, seconds_of
from coarsen.tuning.records.measurement import Measurement, Role


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
    latest: dict[Hashable, Measurement] = {}
    for row in rows:
        place = _place(row)
        if place not in latest or seconds_of(row.started_at) >= seconds_of(latest[place].started_at):
            latest[place] = row
    kept = [row for row in rows if _version(row) == _version(latest[_place(row)])]
    return kept, len(rows) - len(kept)


def _place(row: Measurement) -> Hashable:
    where, subject = row.environment, row.subject
    case = where.device, where.platform, where.form, subject.benchmark, subject.preset
    return case, row.candidate.definitions


def _version(row: Measurement) -> Hashable:
    subject = row.subject
    return subject.kernel, subject.ir_hash, subject.build_options, subject.size


# Choice of the preset shown of a kernel that was measured at several: times at different sizes do not compare.

# The most names in a note.
_NAMED = 4

Group = TypeVar("Group", bound=Hashable)


# A row's preset, when it was started (in seconds since any moment), and whether it compares.
At = tuple[str, float, bool]


@dataclass(frozen=True, slots=True)
class Shown:
    """The preset that is shown, and those that are not, in the order of their names."""

    preset: str
    others: tuple[str, ...]


def shown_presets(rows: Iterable[tuple[Group, At]]) -> Mapping[Group, Shown]:
    """Return the preset that is shown of each place: that of its newest comparison, or else of its newest row.

    Args:
        rows: each with its place: a kernel on a device, which has one best configuration.
    """
    groups: dict[Group, list[At]] = {}
    for place, row in rows:
        groups.setdefault(place, []).append(row)
    return {place: _shown(own) for place, own in groups.items()}


def preset_notes(measurements: Iterable[Measurement]) -> tuple[str, ...]:
    """Return what is left out where kernels were measured at several presets, a sentence a kind of choice."""
    shown = shown_presets((replace(case_of(row), preset=""), at(row)) for row in measurements)
    kernels: dict[Shown, dict[str, None]] = {}
    for place, choice in shown.items():
        if choice.others:
            kernels.setdefault(choice, {})[place.benchmark] = None
    return tuple(_note(choice, list(names)) for choice, names in kernels.items())


def at(measurement: Measurement) -> At:
    """Return the part of a measurement that the choice depends on."""
    return measurement.subject.preset, seconds_of(measurement.started_at), measurement.role is Role.COMPARISON


def _shown(rows: list[At]) -> Shown:
    newest, _, _ = max(rows, key=lambda row: (row[2], row[1]))
    return Shown(newest, tuple(sorted({preset for preset, _, _ in rows} - {newest})))


def _note(shown: Shown, kernels: list[str]) -> str:
    more = f" and {len(kernels) - _NAMED} more" if len(kernels) > _NAMED else ""
    return (
        f"{', '.join(kernels[:_NAMED])}{more}: shown at preset {shown.preset}, which was measured last; "
        f"also measured at {', '.join(shown.others)}, which --preset (preset= in Python) chooses"
    )
