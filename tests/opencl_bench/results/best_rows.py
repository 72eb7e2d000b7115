"""The best of each case among measurements of any."""

from __future__ import annotations

from collections.abc import Iterable

from coarsen.opencl_bench.results.best import BestRow, Case, best_row, case_of
from coarsen.tuning.records.measurement import Measurement


def best_rows(measurements: Iterable[Measurement]) -> tuple[BestRow, ...]:
    """Return the best of each case that has a speed-up, in the order of the cases."""
    cases: dict[Case, list[Measurement]] = {}
    for measurement in measurements:
        cases.setdefault(case_of(measurement), []).append(measurement)
    found = (best_row(cases[case]) for case in sorted(cases))
    return tuple(row for row in found if row is not None)
