"""Choice of the preset shown of a kernel that was measured at several: times at different sizes do not compare."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from coarsen.opencl_bench.records.measurement import Measurement, Role
from coarsen.opencl_bench.results.best import Case, case_of, seconds_of

# The most names in a note.
_NAMED = 4

Group = TypeVar("Group", bound=Hashable)


@dataclass(frozen=True, slots=True)
class At:
    """A row's preset, when it was started (in seconds since any moment), and whether it compares."""

    preset: str
    started: float
    compares: bool


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
    shown = shown_presets((_place(row), at(row)) for row in measurements)
    kernels: dict[Shown, dict[str, None]] = {}
    for place, choice in shown.items():
        if choice.others:
            kernels.setdefault(choice, {})[place.benchmark] = None
    return tuple(_note(choice, list(names)) for choice, names in kernels.items())


def at(measurement: Measurement) -> At:
    """Return the part of a measurement that the choice depends on."""
    compares = measurement.role is Role.COMPARISON
    return At(measurement.subject.preset, seconds_of(measurement.started_at), compares)


def _place(measurement: Measurement) -> Case:
    return replace(case_of(measurement), preset="")


def _shown(rows: list[At]) -> Shown:
    newest = max(rows, key=lambda row: (row.compares, row.started)).preset
    return Shown(newest, tuple(sorted({row.preset for row in rows} - {newest})))


def _note(shown: Shown, kernels: list[str]) -> str:
    more = f" and {len(kernels) - _NAMED} more" if len(kernels) > _NAMED else ""
    return (
        f"{', '.join(kernels[:_NAMED])}{more}: shown at preset {shown.preset}, which was measured last; "
        f"also measured at {', '.join(shown.others)}, which --preset (preset= in Python) chooses"
    )
