"""What the rows of a store come to."""

from __future__ import annotations

from coarsen.opencl_bench.results.best import summaries
from coarsen.tuning.records.measurement import Invalidity
from coarsen.variant.variant import Variant
from tests.opencl_bench.measurements import some_measurement

ROWS = [
    some_measurement(device="A"),
    some_measurement(device="A", candidate=Variant((32, 8), (), (("TILE", "16"),))),
    some_measurement(device="A", candidate=Variant((32,)), invalidity=Invalidity.TIMEOUT),
    some_measurement(
        benchmark="nbody", device="B", invalidity=Invalidity.COMPILE, started_at="2026-12-01T00:00:00+00:00"
    ),
]


def test_summaries() -> None:
    first, second = summaries(ROWS)
    assert [(each.case.device, each.case.benchmark, each.case.preset) for each in (first, second)] == [
        ("A", "sgemm", "cpu"),
        ("B", "nbody", "cpu"),
    ]
    assert (first.rows, first.failures, second.failures) == (3, {Invalidity.TIMEOUT: 1}, {Invalidity.COMPILE: 1})
    assert first.best is not None and (first.best.row, second.best) == (ROWS[0], None)
    assert second.newest == "2026-12-01T00:00:00+00:00"


def test_the_newest_row_is_found_in_any_notation() -> None:
    times = ("2026-11-20T12:00:00+00:00", "2026-11-20T12:00:00.500000+00:00", "2026-11-20T11:00:00Z")
    (summary,) = summaries([some_measurement(seed=seed, started_at=time) for seed, time in enumerate(times)])
    assert summary.newest == times[1]
