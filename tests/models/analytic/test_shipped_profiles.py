"""Profiles as files that coarsen comes with, and curves between their points."""

from __future__ import annotations

import pytest

from coarsen.models.analytic.machine import SHIPPED, Point, interpolated, shipped_profile


def test_every_shipped_profile_can_be_read() -> None:
    names = [path.stem for path in SHIPPED.glob("*.json")]
    found = [shipped_profile(name) for name in names]
    assert names and [each.name for each in found if each is not None] == names
    assert shipped_profile("nowhere") is None


def test_a_curve_between_its_points() -> None:
    curve = (Point(1.0, 10.0), Point(4.0, 40.0))
    assert [interpolated(curve, at) for at in (0, 1, 2, 4, 9)] == pytest.approx([10, 10, 20, 40, 40])
    assert interpolated((), 1.0) is None
