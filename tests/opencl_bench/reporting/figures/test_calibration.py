"""The calibration plot: its numbers and its drawing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from matplotlib.axes import Axes

from coarsen.errors import InvalidInputError
from coarsen.models.evaluation.calibration import Calibration, Forecast, calibration
from coarsen.opencl_bench.reporting.draw_evaluations import draw_calibration
from coarsen.opencl_bench.reporting.evaluations import COLUMNS, calibration_finding, calibration_points
from coarsen.opencl_bench.reporting.sheet import BLUE, VERMILLION, rendered


def said(*forecasts: tuple[float, bool]) -> Calibration:
    found = calibration([Forecast(probability, helped, 1.0) for probability, helped in forecasts])
    assert found is not None
    return found


SURE = said((0.95, True), (0.97, True), (0.02, False), (0.04, True))
VAGUE = said((0.5, True), (0.52, False), (0.55, False))


def marked(axes: Axes, name: str) -> list[float]:
    """The points of the curve of this name: x, y, x, y, …"""
    line = next(line for line in axes.get_lines() if line.get_gid() == f"curve {name}")
    return [float(value) for point in zip(line.get_xdata(), line.get_ydata(), strict=True) for value in point]


def test_a_row_for_each_bin() -> None:
    points = calibration_points({"sure": SURE, "vague": VAGUE})
    assert tuple(points.columns) == COLUMNS
    assert list(points["method"]) == ["sure", "sure", "vague"]
    assert list(points["steps"]) == [2, 2, 3]
    assert list(points["helped"]) == pytest.approx([0.5, 1.0, 1 / 3])
    assert (points["interval_low"] < points["helped"]).all() and (
        points["helped"] <= points["interval_high"]
    ).all()


def test_without_probabilities_there_is_nothing_to_draw() -> None:
    with pytest.raises(InvalidInputError, match="none of the methods gives probabilities"):
        draw_calibration({})


def test_the_finding_is_the_calibration_error() -> None:
    finding = calibration_finding({"sure": SURE, "vague": VAGUE})
    sure, vague = (f"{100 * each.expected_calibration_error:.0f} points" for each in (SURE, VAGUE))
    assert finding.endswith(f"on average off how often it did by {sure} with sure and {vague} with vague")
    one_off = replace(SURE, expected_calibration_error=0.011)
    assert calibration_finding({"sure": one_off}).endswith("by 1 point with sure")


def test_a_method_has_the_colour_that_it_has_among_the_predictions() -> None:
    above, _ = draw_calibration({"cascade": SURE, "other": VAGUE, "default": VAGUE}).axes
    curves = {line.get_gid(): line.get_color() for line in above.get_lines()}
    assert (curves["curve cascade"], curves["curve default"]) == (VERMILLION, BLUE)
    assert curves["curve other"] not in (VERMILLION, BLUE)


def test_the_numbers_of_steps_are_told_apart_without_colour() -> None:
    _, below = draw_calibration({"cascade": SURE, "other": VAGUE, "default": VAGUE}).axes
    assert len({bar.get_hatch() for bar in below.patches}) == 3


def test_the_drawing_shows_the_numbers() -> None:
    figure = draw_calibration({"sure": SURE, "vague": VAGUE})
    above, below = figure.axes
    assert marked(above, "sure") == pytest.approx([0.03, 0.5, 0.96, 1.0])
    assert marked(above, "vague") == pytest.approx([1.57 / 3, 1 / 3])
    heights = [bar.get_height() for bar in below.patches]
    assert heights == [2, 2, 3]
    assert rendered(figure, "svg").startswith(b"<?xml")
