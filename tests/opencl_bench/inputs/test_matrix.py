"""Rows become a matrix of times: paired with the default version, joined by what names an input."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.models.inputs.times import Ending, InputPoint
from coarsen.opencl_bench.inputs.measuring import measured_times
from coarsen.tuning.records.measurement import Invalidity, Measurement
from coarsen.tuning.workload.benchmark import Clock
from coarsen.variant.variant import Variant
from tests.opencl_bench.measurements import some_measurement

DEFAULT, FAST, SLOW = (Variant((8,), (), (("STEP", step),)) for step in ("1", "2", "4"))
VERSIONS = (FAST, DEFAULT, SLOW)
INPUTS = (InputPoint("input-0", "a", {"n": 16.0}), InputPoint("input-1", "b", {"n": 64.0}))
ASKED = (INPUTS, VERSIONS, DEFAULT)


def row(
    preset: str,
    candidate: Variant,
    times: tuple[int, ...],
    baseline: tuple[int, ...],
    **changes: Any,  # noqa: ANN401 (fields of several types)
) -> Measurement:
    """A row whose IR differs by macros, as that of real ones does."""
    return some_measurement(
        preset=preset,
        candidate=candidate,
        baseline=DEFAULT,
        nanoseconds=times,
        baseline_nanoseconds=baseline,
        ir_hash=dict(candidate.definitions)["STEP"] * 64,
        clock=Clock.SPAN,
        **changes,
    )


def failed(preset: str, candidate: Variant, invalidity: Invalidity) -> Measurement:
    return replace(row(preset, candidate, (), ()), invalidity=invalidity, reason="it is so")


ROWS = (
    row("input-0", DEFAULT, (1000, 1000), (1000, 1000)),
    # A process in which all was twice as slow: the ratio counts.
    row("input-0", FAST, (1000, 1000), (2000, 2000)),
    row("input-0", SLOW, (3000, 3000), (1000, 1000)),
    row("input-1", DEFAULT, (4000, 4000), (4000, 4000)),
    row("input-1", FAST, (4000, 4000), (4000, 4000)),
    failed("input-1", SLOW, Invalidity.CORRECTNESS),
)


def test_ratios_to_the_default_version_at_the_same_input() -> None:
    times, left_out = measured_times(ROWS, *ASKED)
    assert times.inputs == INPUTS and times.versions == VERSIONS and times.default == 1
    assert not left_out
    expected = [[0.5e-6, 1e-6, 3e-6], [4e-6, 4e-6, math.nan]]
    np.testing.assert_allclose(times.seconds, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("preset", "candidate"), [("input-2", FAST), ("input-0", Variant((8,), (), (("STEP", "8"),)))]
)
def test_rows_of_other_inputs_and_versions_have_no_part_in_it(preset: str, candidate: Variant) -> None:
    stray = row(preset, candidate, (7, 7), (1, 1))
    assert np.array_equal(
        measured_times([stray, *ROWS], *ASKED)[0].seconds,
        measured_times(ROWS, *ASKED)[0].seconds,
        equal_nan=True,
    )


def test_the_newest_row_of_a_changed_kernel_counts() -> None:
    again = row("input-0", FAST, (100,), (1000,), started_at="2026-12-01T00:00:00+00:00")
    changed = replace(again, subject=replace(again.subject, ir_hash="9" * 64))
    for rows in ([changed, *ROWS], [*ROWS, changed]):
        assert measured_times(rows, *ASKED)[0].seconds[0, 0] == pytest.approx(0.1e-6)


def test_an_input_at_which_the_default_version_fails_is_left_out() -> None:
    rows = [*ROWS[:3], failed("input-1", DEFAULT, Invalidity.TIMEOUT)]
    times, left_out = measured_times(rows, *ASKED)
    assert times.inputs == INPUTS[:1]
    assert left_out == {"input-1": "timeout: it is so"}


def test_a_default_version_that_runs_nowhere_is_refused() -> None:
    none = [failed(point.name, DEFAULT, Invalidity.RUNTIME) for point in INPUTS]
    with pytest.raises(InvalidInputError, match="the default version runs at no input: runtime: it is so"):
        measured_times(none, *ASKED)


@pytest.mark.parametrize(
    ("invalidity", "reason", "ending"),
    [
        (Invalidity.CONSTRAINTS, "factor 2 doesn't divide 3", Ending.FELL_BACK),
        (Invalidity.COMPILE, "error: use of undeclared identifier", Ending.FELL_BACK),
        (Invalidity.COMPILE, "while compiling, the process ended with code 1", Ending.FAILED),
        (Invalidity.COMPILE, "the process died of signal SIGSEGV", Ending.FAILED),
        (Invalidity.RUNTIME, "clEnqueueNDRangeKernel failed: INVALID_WORK_GROUP_SIZE", Ending.FELL_BACK),
        (Invalidity.RUNTIME, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: too many resources", Ending.FELL_BACK),
        (Invalidity.RUNTIME, "clFinish failed: OUT_OF_RESOURCES", Ending.FAILED),
        (Invalidity.TIMEOUT, "no answer within 150.0 s while it was built", Ending.FAILED),
        (Invalidity.TIMEOUT, "a run took 9.00 ms", Ending.FAILED),
        (Invalidity.CORRECTNESS, "wrong: output", Ending.WRONG),
    ],
)
def test_endings_say_what_a_dispatcher_knows_before(invalidity: Invalidity, reason: str, ending: Ending) -> None:
    rows = [*ROWS[:5], replace(failed("input-1", SLOW, invalidity), reason=reason)]
    assert measured_times(rows, *ASKED)[0].endings.tolist() == [[0, 0, 0], [0, 0, ending]]
