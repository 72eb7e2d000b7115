"""From results to what the page says."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import pandas as pd

from coarsen.base.processes import mapped
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.reporting.draw_curves import Choice, curve_points, draw_curves
from coarsen.opencl_bench.reporting.page.content import (
    Best,
    FailureGroup,
    Failures,
    KernelSection,
    Picture,
    Place,
    Point,
    Report,
)
from coarsen.opencl_bench.reporting.sheet import screen_picture
from coarsen.opencl_bench.results.best import best_row
from coarsen.opencl_bench.results.frames import FORMS
from coarsen.opencl_bench.results.paste import paste_of
from coarsen.opencl_bench.results.results import Results
from coarsen.opencl_bench.results.rows import best_table, frame_with_intervals, geometric_means, labelled
from coarsen.opencl_bench.workloads.lookup import find_measured
from coarsen.tuning.engine.speedups import speedup_of
from coarsen.tuning.measure.speedup import Speedup
from coarsen.tuning.records.measurement import TRANSFORM, CheckedAgainst, Invalidity, Measurement, Role
from coarsen.variant.transforms import REPLICATION_ALONE


@dataclass(frozen=True)
class _KernelData:
    """What was measured of a kernel, plain data that another process can be sent; sweeps have its rows alone."""

    name: str
    slug: str
    sweeps: tuple[Sweep, ...]


def report_of(results: Results, processes: int | None = None) -> Report:
    """All that the page says of some measurements.

    Args:
        results: of any kernels, devices and presets; what is of several presets is kept apart.
        processes: how many draw; see `processes.mapped`.
    """
    sweeps = sweeps_of(results.measurements)
    names = slugs(sorted(results.benchmarks, key=_natural))
    data = [
        _KernelData(name, slug, tuple(each.of(name) for each in sweeps if name in each.kernels))
        for name, slug in names.items()
    ]
    sections = mapped(_section, data, processes)
    earlier = len(results.earlier)
    remark = f"{earlier} row{'' if earlier == 1 else 's'} of earlier versions of these kernels left out"
    started = sorted(row.started_at for row in results.measurements)
    return Report(
        origin=_without_folders(results.place),
        devices=len({row.environment.device for row in results.measurements}),
        first=started[0],
        last=started[-1],
        places=tuple(map(_place, sweeps)),
        kernels=tuple(sorted(sections, key=lambda section: -section.gain)),
        remarks=(remark,) if earlier else (),
    )


def _without_folders(place: str) -> str:
    """Files by their names alone: whoever is sent the page need not know the sender's folders."""
    parts = place.split(" and ")
    return " and ".join(Path(part).name for part in parts)


def _natural(name: str) -> list[tuple[bool, int, str]]:
    """Orders names by letters and by whole numbers: kernel-9 before kernel-10."""
    parts = re.split(r"([0-9]+)", name.casefold())
    return [(part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts]


def _file_of(name: str) -> str:
    """The name of a kernel's source file, without the folders of whoever makes the page."""
    try:
        found = find_measured(name)
    except InvalidInputError:
        return "FILE.cl"
    is_text = found.source_text and found.source_file is None
    return "FILE.cl" if is_text else found.kernel_file.name


def _section(kernel: _KernelData) -> KernelSection:
    file = _file_of(kernel.name)
    found = [failures_of(sweep.slug, sweep.measurements) for sweep in kernel.sweeps]
    return KernelSection(
        kernel.slug,
        kernel.name,
        tuple(_best(sweep, row, file) for sweep in kernel.sweeps for row in sweep.best.itertuples()),
        tuple(_pictures(kernel)),
        tuple(_points(kernel)),
        tuple(each for each in found if each is not None),
    )


def _pictures(kernel: _KernelData) -> Iterator[Picture]:
    """Yield the curves of each preset: of all that was tried, and of the baseline's local size alone."""
    preset_of = attrgetter("preset")
    for _, group in groupby(sorted(kernel.sweeps, key=preset_of), preset_of):
        sweeps = tuple(group)
        for choice in _CHOICES:
            if _has_curve(sweeps[0].frame, choice):
                figure = draw_curves(sweeps[0].frame, choice=choice)
                yield Picture(tuple(sweep.slug for sweep in sweeps), *screen_picture(figure))


_CHOICES: tuple[Choice, ...] = ("best", "baseline")


def _has_curve(rows: pd.DataFrame, choice: Choice) -> bool:
    """Return True if anything coarsened has a speed-up, with the baseline's local size if that is chosen."""
    compared = rows[(rows["role"] == Role.COMPARISON.value) & rows["speedup"].notna()]
    if choice == "baseline":
        compared = compared[compared["local_size"] == compared["baseline_local_size"]]
    return bool((compared["factor"] > 1).any())


def _points(kernel: _KernelData) -> Iterator[Point]:
    for sweep in kernel.sweeps:
        for row in sweep.points.itertuples():
            is_known = not math.isnan(row.speedup)
            gain = Speedup(float(row.speedup), float(row.low), float(row.high)) if is_known else None
            words = row.configuration if is_known else f"{row.failed} failed, {row.excluded} left out"
            yield Point(sweep.slug, int(row.factor), gain, words, is_best=bool(row.best))


def _best(sweep: Sweep, row: Any, file: str) -> Best:  # noqa: ANN401 (a row of a frame has no type)
    measurement = next((each for each in sweep.measurements if each.key == row.key), None)
    is_coarsened = int(row.factor) > 1
    gain = None if math.isnan(row.speedup) else Speedup(float(row.speedup), float(row.low), float(row.high))
    is_doubtful = gain is not None and not math.isnan(gain.low) and not gain.is_certain
    return Best(
        place=sweep.slug,
        baseline=row.baseline,
        configuration=row.configuration,
        speedup=gain,
        oracle=row.oracle,
        is_coarsened=is_coarsened,
        is_confirmed=bool(row.confirmed),
        measured=int(row.measured),
        excluded=int(row.excluded),
        failed=int(row.failed),
        paste=paste_of(measurement, file).lines if measurement and is_coarsened and not is_doubtful else (),
    )


# The measurements in the groups that the page shows: presets, which don't compare, and the places in each.
#
# results ─▶ one frame for each preset ─▶ one Sweep for each device, driver and form of code in it


@dataclass(frozen=True)
class Sweep:
    """The measurements of one place, by kernel, and their numbers.

    Attributes:
        name: what readers call the place; a preset is part of it where two would share it otherwise.
        slug: names it in the page.
        preset: of all rows.
        kernels: the measurements by kernel.
        frame: of all places at this preset.
        best: the place's rows of `best_table`.
        points: the place's rows of `curve_points`.
    """

    name: str
    slug: str
    preset: str
    kernels: Mapping[str, tuple[Measurement, ...]]
    frame: pd.DataFrame
    best: pd.DataFrame
    points: pd.DataFrame

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """Return all of the measurements."""
        return tuple(row for rows in self.kernels.values() for row in rows)

    def of(self, kernel: str) -> Sweep:
        """Return what it has of one kernel, with the frame of that kernel at all places."""
        frame, best, points = (
            table[table["benchmark"] == kernel] for table in (self.frame, self.best, self.points)
        )
        return replace(self, kernels={kernel: self.kernels[kernel]}, frame=frame, best=best, points=points)


def sweeps_of(measurements: Iterable[Measurement]) -> tuple[Sweep, ...]:
    """The sweeps, in the order of their devices' names and presets.

    Args:
        measurements: of any devices and presets, at least one.
    """
    presets: dict[str, list[Measurement]] = {}
    for row in measurements:
        presets.setdefault(row.subject.preset, []).append(row)
    found = [sweep for rows in presets.values() for sweep in _at_preset(rows)]
    ordered = sorted(found, key=lambda sweep: (sweep.name.casefold(), sweep.preset))
    labels = Counter(sweep.name for sweep in ordered)
    names = [each.name if labels[each.name] == 1 else f"{each.name}, preset {each.preset}" for each in ordered]
    known = slugs(names)
    return tuple(replace(each, name=name, slug=known[name]) for each, name in zip(ordered, names, strict=True))


def _at_preset(measurements: list[Measurement]) -> list[Sweep]:
    compared = any(row.role is Role.COMPARISON for row in measurements)
    frame = frame_with_intervals(measurements, lambda rows: _shown_keys(rows, compared))
    best = best_table(frame)
    points = curve_points(frame) if compared else pd.DataFrame(columns=["label", "benchmark"])
    kernels: dict[str, dict[str, list[Measurement]]] = {}
    for row, label in zip(measurements, labelled(frame)["label"], strict=True):
        kernels.setdefault(label, {}).setdefault(row.subject.benchmark, []).append(row)
    return [
        Sweep(
            label,
            "",
            measurements[0].subject.preset,
            {name: tuple(rows) for name, rows in own.items()},
            frame,
            best[best["label"] == label],
            points[points["label"] == label],
        )
        for label, own in kernels.items()
    ]


def _shown_keys(rows: pd.DataFrame, compared: bool) -> set[str]:
    """The rows that are shown with an interval: it takes milliseconds to compute one."""
    return {
        *best_table(rows)["key"],
        *(
            key
            for choice in _CHOICES
            if compared and (choice == "best" or _has_curve(rows, choice))
            for key in curve_points(rows, choice=choice)["key"]
        ),
    }


# More names are of no use in a remark.
_NAMED = 8


def _place(sweep: Sweep) -> Place:
    mean = geometric_means(sweep.best).iloc[0]
    rows = sweep.measurements
    endings = Counter(row.invalidity for row in rows)
    return Place(
        slug=sweep.slug,
        name=sweep.name,
        preset=sweep.preset,
        facts=tuple(_facts(rows, sweep.preset)),
        rows=len(rows),
        endings={ending.value: endings[ending] for ending in Invalidity if ending in endings},
        speedup=None if math.isnan(mean.speedup) else float(mean.speedup),
        kernels=int(mean.kernels),
        measured=int(mean.measured),
        helped=int(mean.helped),
        remarks=tuple(_place_remarks(sweep)),
    )


def _facts(rows: Sequence[Measurement], preset: str) -> Iterator[tuple[str, str]]:
    place = max(rows, key=lambda row: row.started_at).environment
    yield "device", place.device
    yield "platform", f"{place.platform}, {place.platform_version}"
    yield "driver", _distinct(row.environment.driver_version for row in rows)
    yield "compute units", str(place.compute_units)
    yield "given as", FORMS.get(place.form, place.form)
    yield "preset of sizes", preset
    yield (
        "repetitions",
        _distinct(
            f"{row.method.minimum_repetitions} to {row.method.repetitions}"
            + (", cold caches" if row.method.cold_cache else "")
            for row in rows
        ),
    )
    yield "measured", _days(rows)
    yield "made by", ", ".join(f"{name} {version}" for name, version in place.versions if name != TRANSFORM)


def _days(rows: Iterable[Measurement]) -> str:
    days = sorted({row.started_at[:10] for row in rows})
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def _distinct(texts: Iterable[str]) -> str:
    return " and ".join(dict.fromkeys(texts))


def _place_remarks(sweep: Sweep) -> Iterator[str]:
    yield from _on_transforms(sweep.measurements)
    yield from _on_oracles(sweep)
    yield from _on_baselines(sweep)
    unconfirmed = _unconfirmed(sweep)
    if unconfirmed:
        yield f"Picked and not timed again in new processes, so somewhat too large: the best of {unconfirmed}"
    ties = sorted(sweep.best.loc[sweep.best["tie"].astype(bool), "benchmark"], key=str.casefold)
    if ties:
        yield f"Nothing beats the baseline, so they are best left as they are: {_listed(ties)}"


def _on_transforms(rows: Sequence[Measurement]) -> Iterator[str]:
    coarsened = [row.candidate.transforms for row in rows if row.candidate.is_coarsened]
    older = sum(transforms == REPLICATION_ALONE for transforms in coarsened)
    if older:
        which = "Measured" if older == len(coarsened) else f"{older} of {len(coarsened)} rows were measured"
        yield f"{which} with replication alone: no fast path, no lock-step and no clean-up"


def _on_oracles(sweep: Sweep) -> Iterator[str]:
    words = {
        CheckedAgainst.UNCOARSENED: "Verified against the uncoarsened kernel, not an independent reference",
        CheckedAgainst.DEFAULT: "Verified against the default version, not an independent reference",
        CheckedAgainst.NOTHING: "Not verified",
    }
    for oracle, sentence in words.items():
        of_it = {
            name
            for name, rows in sweep.kernels.items()
            if any(row.oracle is oracle and not row.candidate.is_original and row.nanoseconds for row in rows)
        }
        if of_it:
            yield f"{sentence}: {_listed(sorted(of_it, key=str.casefold))}"


def _on_baselines(sweep: Sweep) -> Iterator[str]:
    """Yield what of the rows does not compare with the rest, or was made comparable."""
    for name, rows in sweep.kernels.items():
        best = best_row(rows)
        for sentence in best.baseline_notes if best else ():
            yield f"{name}: {sentence}"


def _unconfirmed(sweep: Sweep) -> str:
    known = sweep.best[sweep.best["factor"] > 1]
    others = known.loc[~known["confirmed"], "benchmark"].tolist()
    return "all kernels" if len(others) == len(known) > 1 else _listed(others)


def _listed(names: Sequence[str]) -> str:
    rest = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + rest


# In the words of `opencl_bench/data/README.md`.
ENDINGS = {
    Invalidity.CORRECT: "timed",
    Invalidity.CONSTRAINTS: "broke a constraint",
    Invalidity.TIMEOUT: "given up",
    Invalidity.COMPILE: "not compiled",
    Invalidity.RUNTIME: "failed while running",
    Invalidity.CORRECTNESS: "wrong results",
}
_NO_CLOCK = "the device's clock is too coarse for it: a duration of 0"


def failures_of(place: str, measurements: Iterable[Measurement]) -> Failures | None:
    """A kernel's at a place, largest group first; None where everything has a speed-up.

    Args:
        place: its slug.
        measurements: of one kernel there, of any role; a configuration that failed in several counts once.
    """
    groups: dict[tuple[Invalidity, str], dict[str, None]] = {}
    for row in measurements:
        if row.invalidity is not Invalidity.CORRECT:
            groups.setdefault((row.invalidity, row.reason), {})[str(row.candidate)] = None
        elif speedup_of(row, interval=False) is None:
            groups.setdefault((row.invalidity, _NO_CLOCK), {})[str(row.candidate)] = None
    if not groups:
        return None
    ordered = sorted(groups.items(), key=lambda entry: -len(entry[1]))
    excluded = [entry for entry in ordered if entry[0][0] is Invalidity.CONSTRAINTS]
    tried = [entry for entry in ordered if entry[0][0] is not Invalidity.CONSTRAINTS]
    return Failures(place, *(tuple(_group(*entry) for entry in entries) for entries in (tried, excluded)))


def _group(what: tuple[Invalidity, str], configurations: Iterable[str]) -> FailureGroup:
    ending, reason = what
    word = "no time" if ending is Invalidity.CORRECT else ENDINGS[ending]
    return FailureGroup(word, reason or "no reason was stored", tuple(configurations))


_OTHER = re.compile(r"[^a-z0-9]+")


def slugs(names: Iterable[str]) -> dict[str, str]:
    """A slug for each name, no two the same: "AMD EPYC (PoCL)" has amd-epyc-pocl."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        plain = unicodedata.normalize("NFKD", name).casefold()
        slug = base = _OTHER.sub("-", plain).strip("-") or "unnamed"
        number = 2
        while slug in taken:
            slug, number = f"{base}-{number}", number + 1
        taken.add(slug)
        found[name] = slug
    return found
