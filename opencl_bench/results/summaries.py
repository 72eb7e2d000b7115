"""Summary of a store's rows: how many there are for each benchmark on each device, how they ended, the best."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from coarsen.opencl_bench.records.measurement import Invalidity, Measurement
from coarsen.opencl_bench.results.best import BestRow, Case, best_row, case_of, seconds_of


@dataclass(frozen=True, slots=True)
class Summary:
    """The rows of one case.

    `failures` holds the number of rows by how they ended, without correct ones. `best` is the best configuration,
    None where nothing has a speed-up. `newest` is when the latest was started: UTC, ISO 8601.
    """

    case: Case
    rows: int
    failures: Mapping[Invalidity, int]
    best: BestRow | None
    newest: str


def summaries(measurements: Iterable[Measurement]) -> list[Summary]:
    """Return a summary of each case, in the order of devices, benchmarks and presets."""
    cases: dict[Case, list[Measurement]] = {}
    for measurement in measurements:
        cases.setdefault(case_of(measurement), []).append(measurement)
    return [_summary(case, cases[case]) for case in sorted(cases)]


def _summary(case: Case, rows: Sequence[Measurement]) -> Summary:
    endings = Counter(row.invalidity for row in rows)
    failures: dict[Invalidity, int] = {
        ending: endings[ending] for ending in Invalidity if ending is not Invalidity.CORRECT and ending in endings
    }
    newest = max((row.started_at for row in rows), key=seconds_of)
    return Summary(case, len(rows), failures, best_row(rows), newest)
