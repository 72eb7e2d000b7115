"""Launches and their log times from measurements: relative to one launch, aligned between runs."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.results.exchange.files import write_results
from coarsen.opencl_bench.results.launch_cases import (
    GIVEN_UP,
    MeasuredLaunches,
    launch_cases,
    measured_launches,
    read_launch_cases,
)
from coarsen.tuning.records.measurement import Invalidity, Measurement, Role
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.variant import Variant
from tests.opencl_bench.measurements import SUBJECT, some_measurement

BASELINE = Variant((32, 8))
OWN = Variant((16, 16))
PAIR = Variant((16, 16), (Coarsening(2),))
GROUPS = Variant((32, 8), (Coarsening(4, level=Level.GROUP),))


def row(candidate: Variant, speedup: float, **changes: Any) -> Measurement:  # noqa: ANN401 (fields of several types)
    """A comparison of sgemm that is so many times as fast as the baseline."""
    if changes.get("invalidity", Invalidity.CORRECT) is Invalidity.CORRECT:
        changes = {"nanoseconds": (1000,) * 3, "baseline_nanoseconds": (round(1000 * speedup),) * 3, **changes}
    return some_measurement(**{"candidate": candidate, "baseline": BASELINE, **changes})


def times(case: MeasuredLaunches, run: int = 0) -> dict[Variant, float]:
    return dict(zip(case.variants, case.log_times[:, run].tolist(), strict=True))


def test_log_times_are_relative_and_what_was_given_up_is_slow() -> None:
    (case,) = measured_launches(
        [
            [
                row(BASELINE, 1.0),
                row(OWN, 0.5),
                row(PAIR, 2.0),
                row(GROUPS, 0, invalidity=Invalidity.TIMEOUT),
                row(Variant((8, 8)), 0, invalidity=Invalidity.RUNTIME),
            ]
        ]
    )
    found = times(case)
    assert (case.kernel, case.device) == ("sgemm", "intel")
    assert found[OWN] - found[BASELINE] == pytest.approx(math.log(2))
    assert found[PAIR] - found[BASELINE] == pytest.approx(-math.log(2))
    assert found[GROUPS] - found[BASELINE] == pytest.approx(GIVEN_UP)
    assert math.isnan(found[Variant((8, 8))])


@pytest.mark.parametrize(
    "late",
    [{"code_hash": ""}, {"reason": "no answer within 150.0 s while it was built"}],
    ids=["ours", "driver's"],
)
def test_what_was_not_compiled_in_time_is_not_slow(late: dict[str, Any]) -> None:
    built_late = row(GROUPS, 0, invalidity=Invalidity.TIMEOUT, **late)
    (case,) = measured_launches([[row(BASELINE, 1.0), row(OWN, 0.5), built_late]])
    assert math.isnan(times(case)[GROUPS])


def test_other_roles_other_baselines_and_guarded_launches_do_not_count() -> None:
    guarded = Variant((16, 16), (Coarsening(2),), any_size=True)
    (case,) = measured_launches(
        [
            [
                row(BASELINE, 1.0),
                row(OWN, 0.5),
                row(guarded, 3.0),
                row(PAIR, 9.0, role=Role.CONFIRMATION),
                row(GROUPS, 9.0, baseline=OWN),
            ]
        ]
    )
    assert set(case.variants) == {BASELINE, OWN}


def test_a_case_without_an_uncoarsened_launch_is_left_out() -> None:
    assert measured_launches([[row(PAIR, 2.0)]]) == ()


def test_runs_stay_apart_and_are_relative_to_the_same_launches() -> None:
    first = [row(BASELINE, 1.0), row(OWN, 0.5), row(PAIR, 2.0)]
    # Timed against another baseline, so that all ratios are others.
    second = [row(BASELINE, 2.0, baseline=OWN), row(OWN, 1.0, baseline=OWN), row(GROUPS, 8.0, baseline=OWN)]
    (case,) = measured_launches([first, second])
    assert case.log_times.shape == (4, 2)
    assert times(case, 0)[OWN] == pytest.approx(times(case, 1)[OWN])
    assert math.isnan(times(case, 1)[PAIR]) and math.isnan(times(case, 0)[GROUPS])


def test_runs_that_are_joined_have_the_mean_of_their_log_times() -> None:
    first, second = ([row(BASELINE, 1.0), row(OWN, 1.0), row(PAIR, gain)] for gain in (2.0, 4.0))
    (case,) = measured_launches([first, [*second, row(GROUPS, 1.0)]], joined=True)
    assert case.log_times.shape == (4, 1)
    assert times(case)[PAIR] == pytest.approx(-1.5 * math.log(2), abs=1e-3)
    assert times(case)[GROUPS] == pytest.approx(0.0)


def test_cases_have_the_work_of_the_launches_that_ran_at_their_sizes() -> None:
    own = Variant((128,))
    variants = (own, Variant((128,), (Coarsening(4),)), Variant((128,), (Coarsening(8, level=Level.GROUP),)))
    log_times = np.array([[0.0], [-0.5], [math.nan]])
    (case,) = launch_cases(
        [MeasuredLaunches("synthetic-0-1", "cpu", "intel", variants, log_times, 0 * log_times)]
    ).cases
    assert case.inputs.variants == variants[:2]
    assert (case.own, case.log_times.tolist()) == (0, [[0.0], [-0.5]])
    assert case.family.startswith("synthetic-stencil") and case.identity
    assert {"guard", "reuse", "stencil"} <= case.mechanisms
    assert np.isfinite(case.inputs.analytic).all()


def test_a_case_whose_local_size_the_kernel_can_not_use_is_named() -> None:
    other = MeasuredLaunches(
        "synthetic-0-1", "cpu", "intel", (Variant((64,)),), np.zeros((1, 1)), np.zeros((1, 1))
    )
    found = launch_cases([other])
    assert not found.cases
    left_out = "synthetic-0-1 at cpu on intel is left out: synthetic-0-1: its local sizes are 128, not 64"
    assert found.notes == (left_out,)


def test_nothing_is_learned_from_the_judges_kernels(tmp_path: Path) -> None:
    subject = replace(SUBJECT, benchmark="judge-bfs_level")
    file = tmp_path / "rows.parquet"
    write_results([row(BASELINE, 1.0, subject=subject), row(PAIR, 2.0, subject=subject)], file)
    with pytest.raises(InvalidInputError, match="judge-bfs_level is a kernel of the second judge"):
        read_launch_cases([str(file)], learned=True)
