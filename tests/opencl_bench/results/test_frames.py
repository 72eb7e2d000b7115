"""Frames and summaries: their numbers against ones worked out by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coarsen.opencl_bench.results.frames import COLUMNS, frame
from coarsen.tuning.engine.speedups import speedup_of
from coarsen.tuning.measure.speedup import bootstrap_interval
from coarsen.tuning.records.measurement import Invalidity, Measurement
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
        "configuration": str(candidate),
        "launch": "16×8, -D A=1, -D B=x y",
        "baseline": "32×8, -D TILE=16",
        "work_items": 128,
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


@settings(max_examples=25)
@given(rows=st.lists(measurements(), max_size=3))
def test_any_measurement_has_a_row(rows: list[Measurement]) -> None:
    table = frame(rows, intervals=False)
    assert list(table["key"]) == [row.key for row in rows]
    assert list(table["speedup"].notna()) == [speedup_of(row, interval=False) is not None for row in rows]
