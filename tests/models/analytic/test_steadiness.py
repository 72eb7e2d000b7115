"""A calibration that was disturbed is told from one that was not."""

from __future__ import annotations

from dataclasses import replace

from coarsen.models.analytic.machine import Point, busy_remark
from tests.models.analytic.profiles import PROFILE


def test_a_steady_profile_needs_no_remark() -> None:
    assert busy_remark(PROFILE) is None


def test_a_disturbed_calibration_is_remarked_on() -> None:
    disturbed = replace(PROFILE, latency=tuple(Point(float(at), 1e-7, 0.9) for at in (1, 2, 4)))
    remark = busy_remark(disturbed)
    assert remark is not None
    assert remark.startswith(
        "3 of 9 numbers changed by more than 25% from run to run: something else used the device"
    )
