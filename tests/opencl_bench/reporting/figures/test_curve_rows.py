"""Published curves in the figures of measurements."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from coarsen.errors import InvalidInputError
from coarsen.models.best_factors import PUBLISHED
from coarsen.models.evaluation.scores import GIVEN_UP_SPEEDUP
from coarsen.opencl_bench.reporting.curve_points import curve_frame, curve_points
from coarsen.opencl_bench.reporting.draw_curves import curves_finding, draw_curves
from coarsen.opencl_bench.results.curves import Curve
from coarsen.opencl_bench.results.measured_curves import read_curves
from coarsen.opencl_bench.results.rows import NEEDED, best_table, geometric_means
from tests.opencl_bench.reporting.figures.samples import frame_of, row
from tests.opencl_bench.reporting.figures.writing import written

GTX, RADEON = "NVIDIA GTX 480", "AMD Radeon HD 5900"


def curve(kernel: str, device: str, speedup: dict[int, float], dimension: int = 0) -> Curve:
    return Curve(kernel, device, dimension, None, speedup, max(speedup, key=lambda factor: speedup[factor]))


CURVES = (
    curve("mt", "fermi", {2: 2.0, 4: 1.5}),
    curve("nbody", "fermi", {2: 0.5}),
    curve("mt", "cypress", {2: 1.0, 4: 4.0}),
    curve("nbody", "cypress", {2: 1.25, 4: 1.2}),
)


def test_a_row_for_each_factor_and_one_uncoarsened() -> None:
    rows = curve_frame([*CURVES[:2], curve("mt", "fermi", {2: 1.1}, dimension=1)])
    assert tuple(rows.columns) == NEEDED
    assert rows[["benchmark", "factor", "dimension", "speedup"]].fillna(0).to_numpy().tolist() == [
        *(["mt", 1, "", 1.0], ["mt", 2, "0", 2.0], ["mt", 4, "0", 1.5]),
        *(["nbody", 1, "", 1.0], ["nbody", 2, "0", 0.5], ["nbody", 4, "0", 0.0]),
        *(["mt", 2, "1", 1.1], ["mt", 4, "1", 0.0]),
    ]
    assert list(rows.loc[rows["speedup"].isna(), "invalidity"].unique()) == ["missing"]
    assert rows["low"].isna().all() and set(rows["device"]) == {GTX}


def test_what_was_given_up_here_has_no_speedup() -> None:
    measured = Curve("mt", "pocl", 0, (64,), {2: GIVEN_UP_SPEEDUP, 4: 2.0}, 4)
    rows = curve_frame([measured]).set_index("factor")
    assert rows.loc[2, "invalidity"] == "timeout" and math.isnan(rows.loc[2, "speedup"])
    assert set(rows["baseline_local_size"]) == {"64"}


def test_best_factors_alone_make_no_rows() -> None:
    with pytest.raises(InvalidInputError, match="there is nothing but best factors"):
        curve_frame(read_curves(str(PUBLISHED)).curves)


def test_the_numbers_of_curves() -> None:
    rows = curve_frame(CURVES)
    points = curve_points(rows)
    assert curves_finding(points, "device") == (f"Coarsening helps 2 of 2 kernels on {RADEON} and 1 of 2 on {GTX}")
    means = geometric_means(best_table(rows)).set_index("label")["speedup"]
    assert means.to_dict() == pytest.approx({RADEON: math.sqrt(5.0), GTX: math.sqrt(2.0)})


def test_a_factor_without_a_time_is_shown_as_failed() -> None:
    rows = curve_frame([*CURVES[:3], curve("nbody", "cypress", {4: 2.0})])
    assert list(rows.loc[rows["speedup"].isna(), "benchmark"]) == ["nbody", "nbody"]
    drawn = draw_curves(rows)
    assert "failed" in [entry.get_text() for entry in drawn.legends[0].get_texts()]


def test_figures_of_curves_say_what_is_not_known() -> None:
    rows = curve_frame(CURVES)
    text = written(draw_curves(rows))
    for sentence in (
        "Intervals are not known.",
        "Each kernel has one configuration at each factor.",
        "The best of each kernel was chosen by the speed-ups that are shown",
        "speed-up over the uncoarsened kernel",
    ):
        assert sentence in text, sentence


def test_curves_and_measurements_make_one_figure() -> None:
    together = pd.concat([frame_of([row("mt"), row("mt", 2, 2.0)]), curve_frame(CURVES)])
    figure = draw_curves(together)
    assert [entry.get_text() for entry in figure.legends[0].get_texts()][:3] == [
        *("AMD EPYC (Intel)", RADEON, GTX),
    ]
    unknown = f"Problem sizes differ: preset test on AMD EPYC (Intel); unknown on {RADEON} and {GTX}."
    assert unknown in written(figure)
