"""Frames and summaries: their numbers against ones worked out by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coarsen.opencl_bench.measure.speedup import bootstrap_interval
from coarsen.opencl_bench.records.measurement import Invalidity, Measurement, Role
from coarsen.opencl_bench.results.frames import COLUMNS, best_rows, frame, geometric_mean
from coarsen.opencl_bench.results.summaries import Case, speedup_of, summaries
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from tests.opencl_bench.measurements import measurements, some_measurement

# Of three runs each: medians 3 and 9, so three times as fast, and the interval is all on one side of 1.
FAST, SLOW = (4, 2, 3), (7, 9, 30)


def timed(ratio: int, **changes: object) -> Measurement:
    """A measurement that is so many times as fast as its baseline."""
    return some_measurement(nanoseconds=(10, 10, 10), baseline_nanoseconds=(10 * ratio,) * 3, **changes)


def test_the_columns_of_a_measurement() -> None:
    candidate = Variant((16, 8), (Coarsening(2, 0, 8), Coarsening(4, 1)), (("A", "1"), ("B", "x y")))
    row = some_measurement(candidate=candidate, nanoseconds=FAST, baseline_nanoseconds=SLOW)
    table = frame([row])
    assert tuple(table.columns) == COLUMNS
    found = table.iloc[0].to_dict()
    low, high = bootstrap_interval(SLOW, FAST, 0.95)
    wanted = {
        "key": row.key,
        "benchmark": "sgemm",
        "device": "Intel(R) Xeon(R) Processor @ 2.10GHz",
        "compute_units": 2,
        "role": "comparison",
        "factor": 8,
        "factors": "2,4",
        "dimension": "0,1",
        "stride": "8,1",
        "local_size": "16×8",
        "definitions": "A=1 B=x y",
        "baseline_local_size": "32×8",
        "invalidity": "correct",
        "oracle": "reference",
        "median_ns": 3.0,
        "baseline_median_ns": 9.0,
        "speedup": 3.0,
        "low": low,
        "high": high,
        "tie": False,
        "repetitions": 3,
        "compile_seconds": 0.25,
        "started_at": "2026-11-20T12:00:00.123456+00:00",
    }
    assert {name: found[name] for name in wanted} == wanted


def test_uncoarsened_and_without_a_baseline() -> None:
    row = frame([some_measurement(candidate=Variant((64,)), baseline=None)]).iloc[0]
    assert row["factor"] == 1
    assert [row[name] for name in ("factors", "dimension", "stride", "definitions", "baseline_local_size")] == [
        ""
    ] * 5


@pytest.mark.parametrize("ending", [ending for ending in Invalidity if ending is not Invalidity.CORRECT])
def test_a_failed_configuration_has_no_numbers(ending: Invalidity) -> None:
    row = frame([timed(2), some_measurement(invalidity=ending, reason="why")]).iloc[1]
    assert (row["invalidity"], row["reason"], row["repetitions"], row["tie"]) == (ending.value, "why", 0, False)
    numbers = ("median_ns", "baseline_median_ns", "speedup", "low", "high")
    assert all(math.isnan(row[name]) for name in numbers)


def test_a_tie_is_one() -> None:
    uneven = some_measurement(nanoseconds=(10, 20, 30), baseline_nanoseconds=(11, 19, 31))
    table = frame([uneven, timed(1), timed(2)])
    assert list(table["tie"]) == [True, True, False]
    assert table["low"][0] < 1 < table["high"][0]


def test_intervals_are_left_out_on_request() -> None:
    table = frame([timed(2)], intervals=False)
    assert table["speedup"][0] == 2.0
    assert math.isnan(table["low"][0]) and math.isnan(table["high"][0]) and not table["tie"][0]


def test_a_clock_that_stands_still_gives_no_speedup() -> None:
    assert speedup_of(some_measurement(nanoseconds=(0,), baseline_nanoseconds=(10,))) is None
    assert speedup_of(some_measurement(nanoseconds=(10,), baseline_nanoseconds=(0,))) is None


def test_an_empty_frame_has_the_same_columns_and_types() -> None:
    empty = frame([])
    assert list(empty.dtypes) == list(frame([timed(2)]).dtypes)
    assert len(best_rows(empty)) == len(geometric_mean(empty)) == 0


@settings(max_examples=25, deadline=None)
@given(rows=st.lists(measurements(), max_size=3))
def test_any_measurement_has_a_row(rows: list[Measurement]) -> None:
    table = frame(rows, intervals=False)
    assert list(table["key"]) == [row.key for row in rows]
    assert list(table["speedup"].notna()) == [speedup_of(row, interval=False) is not None for row in rows]


ROWS = [
    timed(2, benchmark="sgemm", device="A"),
    timed(8, benchmark="sgemm", device="A", candidate=Variant((64,))),
    timed(9, benchmark="sgemm", device="A", seed=2, role=Role.SELECTION),
    some_measurement(benchmark="sgemm", device="A", candidate=Variant((32,)), invalidity=Invalidity.TIMEOUT),
    timed(2, benchmark="mt", device="A"),
    timed(3, benchmark="mt", device="B"),
    some_measurement(
        benchmark="nbody", device="B", invalidity=Invalidity.COMPILE, started_at="2026-12-01T00:00:00+00:00"
    ),
]


def test_the_best_rows() -> None:
    best = best_rows(frame(ROWS))
    assert list(zip(best["device"], best["benchmark"], best["speedup"], strict=True)) == [
        ("A", "mt", 2.0),
        ("A", "sgemm", 8.0),
        ("B", "mt", 3.0),
    ]


def test_the_geometric_mean_of_each_device() -> None:
    means = geometric_mean(best_rows(frame(ROWS)))
    assert {place[:3]: mean for place, mean in means.items()} == {
        ("A", "Intel(R) OpenCL", "opencl_c"): pytest.approx(4.0),  # of 2 and 8
        ("B", "Intel(R) OpenCL", "opencl_c"): pytest.approx(3.0),
    }


@pytest.mark.parametrize("other", [{"driver_version": "another"}, {"cold_cache": True}])
def test_drivers_and_states_of_the_caches_are_kept_apart(other: dict[str, object]) -> None:
    best = best_rows(frame([timed(2), timed(3, **other), timed(2, role=Role.CONFIRMATION)]))
    assert sorted(zip(best["role"], best["speedup"], strict=True)) == [("comparison", 3.0), ("confirmation", 2.0)]
    assert len(geometric_mean(best)) == 2


def test_forms_of_code_are_kept_apart() -> None:
    rows = [timed(2), timed(3, form="spirv")]
    assert list(best_rows(frame(rows))["speedup"]) == [2.0, 3.0]
    assert [summary.case.form for summary in summaries(rows)] == ["opencl_c", "spirv"]


NAMES = ("A mt", "A sgemm", "B mt", "B nbody")


def test_summaries() -> None:
    found = summaries(ROWS)
    cases = [Case(device, "Intel(R) OpenCL", "opencl_c", name, "cpu") for device, name in map(str.split, NAMES)]
    assert [summary.case for summary in found] == cases
    assert [summary.rows for summary in found] == [1, 4, 1, 1]
    assert [summary.failures for summary in found] == [{}, {Invalidity.TIMEOUT: 1}, {}, {Invalidity.COMPILE: 1}]
    assert [summary.best for summary in found] == [ROWS[4], ROWS[1], ROWS[5], None]
    ratios = [summary.speedup.ratio if summary.speedup else None for summary in found]
    assert ratios == [2.0, 8.0, 3.0, None]
    assert found[1].speedup == speedup_of(ROWS[1])
    assert found[3].newest == "2026-12-01T00:00:00+00:00"


def test_the_newest_row_is_found_in_any_notation() -> None:
    times = ("2026-11-20T12:00:00+00:00", "2026-11-20T12:00:00.500000+00:00", "2026-11-20T11:00:00Z")
    (summary,) = summaries([some_measurement(seed=seed, started_at=time) for seed, time in enumerate(times)])
    assert summary.newest == times[1]


def test_the_best_is_reported_by_its_confirmation() -> None:
    chosen = timed(8, benchmark="mt", device="A")
    other = timed(2, benchmark="mt", device="A", candidate=Variant((64,)))
    early = timed(9, benchmark="mt", device="A", role=Role.CONFIRMATION, started_at="2026-11-20T12:00:00+00:00")
    late = timed(7, benchmark="mt", device="A", role=Role.CONFIRMATION, started_at="2026-11-20T13:00:00+00:00")
    of_other = timed(20, benchmark="mt", device="A", role=Role.CONFIRMATION, candidate=Variant((64,)))
    unconfirmed = timed(3, benchmark="nbody", device="A")
    rows = [chosen, other, late, early, of_other, unconfirmed]
    assert list(best_rows(frame(rows))["key"]) == [late.key, unconfirmed.key]
    assert [summary.best for summary in summaries(rows)] == [late, unconfirmed]


def test_a_comparison_with_a_faster_baseline_replaces_the_earlier_one() -> None:
    earlier, later = ("2026-11-20T12:00:00+00:00", "2026-11-20T13:00:00+00:00")
    slow, fast = Variant((8, 8)), Variant((64, 4))
    old = timed(8, baseline=slow, started_at=earlier)
    confirmed = timed(7, baseline=slow, started_at=earlier, role=Role.CONFIRMATION)
    new = timed(2, baseline=fast, started_at=later)
    (summary,) = summaries([new, old, confirmed])
    assert (summary.best, summary.rows) == (new, 3)


def test_a_confirmation_that_failed_confirms_nothing() -> None:
    chosen = timed(8, benchmark="mt", device="A")
    failed = some_measurement(
        benchmark="mt", device="A", role=Role.CONFIRMATION, invalidity=Invalidity.CORRECTNESS, reason="wrong"
    )
    (summary,) = summaries([chosen, failed])
    assert summary.best == chosen
    assert summary.failures == {Invalidity.CORRECTNESS: 1}
    assert list(best_rows(frame([chosen, failed]))["key"]) == [chosen.key]
