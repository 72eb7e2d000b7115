"""The rows that every figure starts from."""

from __future__ import annotations

import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.results.rows import (
    NEEDED,
    best,
    comparisons,
    is_helped,
    labelled,
    outcome_counts,
)
from tests.opencl_bench.reporting.figures.samples import INTEL, POCL, frame_of, row


def test_the_order_of_factors_tells_configurations_apart() -> None:
    both = {"dimension": "0,1", "stride": "1,1"}
    rows = frame_of([row("mt", 8, 2.0, factors="2,4", **both), row("mt", 8, 3.0, factors="4,2", **both)])
    assert len(comparisons(rows)) == 2


def test_only_comparisons_count_and_of_equal_ones_the_latest() -> None:
    rows = frame_of(
        [
            row("mt", 2, 3.0, started_at="2026-11-20T12:00:02+00:00"),
            row("mt", 2, 2.0, started_at="2026-11-20T12:00:01+00:00"),
            row("mt", 1, 9.0, role="selection"),
        ]
    )
    assert list(comparisons(rows)["speedup"]) == [3.0]


def test_the_same_configuration_on_two_devices_is_two_rows() -> None:
    assert len(comparisons(frame_of([row("mt", 2, **POCL), row("mt", 2, **INTEL)]))) == 2


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "there are no measurements to show"),
        ([row("mt", role="selection")], "none of the measurements compares a configuration with the baseline yet"),
    ],
)
def test_rows_that_make_no_figure(rows: list[dict[str, object]], message: str) -> None:
    frame = frame_of(rows) if rows else frame_of([row("mt")]).iloc[:0]
    with pytest.raises(InvalidInputError) as caught:
        comparisons(frame)
    assert str(caught.value) == message


def test_several_presets_of_different_benchmarks_are_fine() -> None:
    assert len(comparisons(frame_of([row("mt", preset="test"), row("sgemm", preset="cpu")]))) == 2


def test_a_column_that_is_missing_is_named() -> None:
    with pytest.raises(InvalidInputError, match="the frame has no column dimension, stride"):
        labelled(frame_of([row("mt")]).drop(columns=["dimension", "stride"]))


def test_needed_columns_are_those_of_the_exchange() -> None:
    from coarsen.opencl_bench.results.frames import COLUMNS

    assert set(NEEDED) <= set(COLUMNS)
    assert set(frame_of([row("mt")]).columns) == set(COLUMNS) - {"median_ns", "baseline_median_ns"}


def test_the_best_may_be_uncoarsened() -> None:
    rows = comparisons(
        frame_of([row("mt", 1, 1.0), row("mt", 2, 0.5), row("nbody", 1, 1.0), row("nbody", 4, 1.5)])
    )
    winners = best(rows)
    assert list(zip(winners["benchmark"], winners["factor"], strict=True)) == [("mt", 1), ("nbody", 4)]
    assert list(is_helped(winners)) == [False, True]


def test_the_newest_preset_is_shown_and_the_others_are_named() -> None:
    later = {"preset": "cpu", "started_at": "2026-11-20T13:00:00+00:00"}
    rows = comparisons(frame_of([row("mt", 2, 9.0, preset="test"), row("mt", 2, 2.0, **later), row("sgemm")]))
    assert list(zip(rows["benchmark"], rows["speedup"], rows["other_presets"], strict=True)) == [
        ("mt", 2.0, "test"),
        ("sgemm", 1.0, ""),
    ]


def test_the_best_has_the_numbers_of_its_confirmation() -> None:
    again = {"role": "confirmation"}
    rows = comparisons(
        frame_of(
            [
                row("mt", 1, 1.0),
                row("mt", 2, 2.0),
                row("mt", 4, 1.9),
                row("mt", 2, 1.4, **again, started_at="2026-11-20T13:00:02+00:00", key="latest"),
                row("mt", 2, 1.2, **again, started_at="2026-11-20T13:00:01+00:00"),
                # It is of another baseline.
                row("mt", 2, 6.0, **again, baseline_local_size="16", started_at="2026-11-20T13:00:03+00:00"),
            ]
        )
    )
    assert list(rows["speedup"]) == [1.0, 1.4, 1.9]
    assert list(rows["chosen"]) == [False, True, False]
    winner = best(rows).iloc[0]
    assert (winner["key"], winner["low"], winner["high"]) == ("latest", pytest.approx(1.372), pytest.approx(1.428))


def test_rows_over_another_baseline_are_left_out_and_named() -> None:
    # A sweep over 8×8, and then a few factors at a local size that somebody asked for.
    swept = {"baseline_local_size": "8×8"}
    asked = {"local_size": "64×4", "baseline_local_size": "64×4", "started_at": "2026-11-20T13:00:00+00:00"}
    rows = comparisons(
        frame_of(
            [
                row("mt", 1, 1.0, **swept, local_size="8×8"),
                row("mt", 4, 1.5, **swept, local_size="8×8"),
                row("mt", 1, 1.0, **asked),
                row("mt", 8, 3.34, **asked),
            ]
        )
    )
    assert set(rows["baseline"]) == set(rows["baseline_local_size"]) == set(rows["local_size"]) == {"64×4"}
    assert list(rows["speedup"]) == [1.0, 3.34]
    assert set(rows["other_baselines"]) == {"8×8"}


def test_what_failed_when_it_was_confirmed_has_failed() -> None:
    failed = row("mt", 2, None, role="confirmation", invalidity="correctness")
    rows = comparisons(frame_of([row("mt", 1, 1.0), row("mt", 2, 2.0), failed]))
    assert list(zip(rows["factor"], rows["invalidity"], rows["chosen"], strict=True)) == [
        (1, "correct", True),
        (2, "correctness", False),
    ]


def test_the_confirmations_of_several_processes_are_one_row() -> None:
    again = [
        row("mt", 2, speedup, role="confirmation", invocation=number)
        for number, speedup in enumerate([2.0, 2.1, 2.2])
    ]
    (found,) = comparisons(frame_of([row("mt", 2, 2.6), *again])).to_dict("records")
    assert (found["confirmed"], round(found["speedup"], 3)) == (True, 2.098)
    assert (round(found["low"], 2), round(found["high"], 2)) == (1.86, 2.36)


def test_a_kernel_without_baseline_is_its_failed_uncoarsened_rows() -> None:
    refused = {"role": "selection", "invalidity": "compile"}
    rows = comparisons(
        frame_of(
            [
                row("mt", 2, 2.0),
                row("mt", 1, 1.0, role="selection"),
                row("nbody", 1, None, **refused),
                row("nbody", 1, None, local_size="16", **refused),
                # This one is not as far yet.
                row("reduce", 1, 1.0, role="selection"),
                row("reduce", 1, None, local_size="16", **refused),
            ]
        )
    )
    assert list(zip(rows["benchmark"], rows["factor"], rows["chosen"], strict=True)) == [
        ("mt", 2, True),
        ("nbody", 1, False),
        ("nbody", 1, False),
    ]


def test_an_interval_that_reaches_1_is_no_help() -> None:
    assert not is_helped(best(comparisons(frame_of([row("mt", 2, 1.01)])))).any()


def test_outcomes_are_counted() -> None:
    rows = frame_of(
        [
            row("mt"),
            row("mt", 2, None),
            row("mt", 4, None, invalidity="constraints"),
            row("mt", 8, None, invalidity="constraints"),
            # Too fast for the clock: correct, and yet without a speed-up.
            row("mt", 16, None, invalidity="correct"),
        ]
    )
    counts = outcome_counts(comparisons(rows)).iloc[0]
    assert counts.to_dict() == {"configurations": 5, "measured": 1, "excluded": 2, "failed": 2}
