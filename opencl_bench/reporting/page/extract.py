"""From results to what the page says."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coarsen.opencl_bench.measure.speedup import Speedup
from coarsen.opencl_bench.records.measurement import Measurement
from coarsen.opencl_bench.reporting.page.charts import (
    OwnCurve,
    Sweep,
    overall_chart,
    own_charts,
    own_curves,
    sweeps_of,
)
from coarsen.opencl_bench.reporting.page.code import (
    CodeQuestion,
    KernelAnswers,
    KernelQuestions,
    all_answers,
)
from coarsen.opencl_bench.reporting.page.content import Best, KernelSection, Place, Report
from coarsen.opencl_bench.reporting.page.failures import failures_of
from coarsen.opencl_bench.reporting.page.places import places_of
from coarsen.opencl_bench.reporting.page.slugs import slugs
from coarsen.opencl_bench.results.paste import paste_of
from coarsen.opencl_bench.results.results import Results
from coarsen.opencl_bench.workloads.benchmark import Benchmark, Definitions
from coarsen.opencl_bench.workloads.kernel_source import known_kernel


@dataclass(frozen=True)
class _KernelData:
    """What was measured of a kernel, by the slug of the place; `names` are the places', `file` is its source's."""

    name: str
    sweeps: Mapping[str, Sweep]
    names: Mapping[str, str]
    own: Mapping[str, tuple[OwnCurve, ...]]
    file: str

    @property
    def rows(self) -> Mapping[str, tuple[Measurement, ...]]:
        """The measurements."""
        return {place: sweep.kernels[self.name] for place, sweep in self.sweeps.items()}


def report_of(results: Results, kernels: Path | None = None, processes: int | None = None) -> Report:
    """All that the page says of some measurements.

    Args:
        results: of any kernels, devices and presets; what is of several presets is kept apart.
        kernels: a folder with the descriptions (NAME.toml) of kernels that are not the suite's.
        processes: how many coarsen; see `processes.mapped`.
    """
    sweeps = sweeps_of(results.measurements)
    places = places_of(sweeps)
    data = [_data(name, sweeps, places, kernels) for name in sorted(results.benchmarks, key=_natural)]
    answers = all_answers([_questions(kernel, kernels) for kernel in data], processes)
    own_slugs = slugs(kernel.name for kernel in data)
    sections = [
        _section(kernel, found, own_slugs[kernel.name]) for kernel, found in zip(data, answers, strict=True)
    ]
    started = sorted(row.started_at for row in results.measurements)
    return Report(
        origin=_without_folders(results.place),
        devices=len({row.environment.device for row in results.measurements}),
        first=started[0],
        last=started[-1],
        outdated=len(results.earlier),
        places=places,
        kernels=tuple(sorted(sections, key=lambda section: -section.gain)),
        remarks=tuple(_remarks(results)),
    )


def _without_folders(place: str) -> str:
    """Files by their names alone: whoever is sent the page need not know the sender's folders."""
    parts = place.split(" and ")
    return " and ".join(part if "://" in part else Path(part).name for part in parts)


def _natural(name: str) -> list[tuple[bool, int, str]]:
    """Orders names by letters and by whole numbers: kernel-9 before kernel-10."""
    parts = re.split(r"([0-9]+)", name.casefold())
    return [(part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts]


def _remarks(results: Results) -> Iterator[str]:
    if results.earlier:
        count = len(results.earlier)
        yield f"{count} row{'' if count == 1 else 's'} of earlier versions of these kernels left out"


def _data(name: str, sweeps: Sequence[Sweep], places: Sequence[Place], folder: Path | None) -> _KernelData:
    benchmark = known_kernel(name, folder)
    own = {place.slug: sweep for place, sweep in zip(places, sweeps, strict=True) if name in sweep.kernels}
    curves = {slug: own_curves(benchmark, sweep.kernels[name]) for slug, sweep in own.items()}
    return _KernelData(name, own, {place.slug: place.name for place in places}, curves, _file_of(benchmark))


def _file_of(benchmark: Benchmark | None) -> str:
    """The name of a kernel's source file, without the folders of whoever makes the page."""
    is_text = benchmark is None or (benchmark.source_text and benchmark.source_file is None)
    return "FILE.cl" if benchmark is None or is_text else benchmark.kernel_file.name


def _questions(kernel: _KernelData, folder: Path | None) -> KernelQuestions:
    hashes: dict[Definitions, set[str]] = {}
    for row in (row for rows in kernel.rows.values() for row in rows if row.subject.ir_hash):
        hashes.setdefault(row.candidate.definitions, set()).add(row.subject.ir_hash)
    return KernelQuestions(
        kernel.name,
        folder,
        {definitions: frozenset(stored) for definitions, stored in hashes.items()},
        tuple(_best_codes(kernel)),
    )


def _best_codes(kernel: _KernelData) -> Iterator[CodeQuestion]:
    for place, sweep in kernel.sweeps.items():
        key = next((row.key for row in _best_rows(kernel.name, sweep)), "")
        row = next((row for row in sweep.kernels[kernel.name] if row.key == key), None)
        if row is not None and not row.candidate.is_original:
            yield _code(place, f"best on {kernel.names[place]}", row)


def _code(place: str, whose: str, row: Measurement) -> CodeQuestion:
    where = row.environment
    return CodeQuestion(
        place,
        whose,
        row.candidate.code_variant(),
        where.form,
        row.code_hash,
    )


def _best_rows(name: str, sweep: Sweep) -> Iterator[Any]:
    yield from sweep.best[sweep.best["benchmark"] == name].itertuples()


def _section(kernel: _KernelData, answers: KernelAnswers, slug: str) -> KernelSection:
    overall = overall_chart(kernel.name, kernel.sweeps)
    found = [failures_of(place, rows) for place, rows in kernel.rows.items()]
    return KernelSection(
        slug=slug,
        name=kernel.name,
        best=tuple(_bests(kernel)),
        charts=(*((overall,) if overall else ()), *own_charts(kernel.own)),
        failures=tuple(each for each in found if each is not None),
        pairs=answers.pairs,
        source_note=answers.note,
        original=answers.original,
    )


def _bests(kernel: _KernelData) -> Iterator[Best]:
    for place, sweep in kernel.sweeps.items():
        for row in _best_rows(kernel.name, sweep):
            yield _best(place, row, sweep, kernel.file)


def _best(place: str, row: Any, sweep: Sweep, file: str) -> Best:  # noqa: ANN401 (a row of a frame has no type)
    measurement = next((each for each in sweep.kernels[row.benchmark] if each.key == row.key), None)
    is_coarsened = int(row.factor) > 1
    gain = None if math.isnan(row.speedup) else Speedup(float(row.speedup), float(row.low), float(row.high))
    is_doubtful = gain is not None and not math.isnan(gain.low) and not gain.is_certain
    return Best(
        place=place,
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
