"""Published curves in the figures of measurements, and the best factors of table 5."""

from __future__ import annotations

import math

import pandas as pd
import pytest
from matplotlib.axes import Axes

from coarsen.errors import InvalidInputError
from coarsen.models.best_factors import PUBLISHED
from coarsen.models.evaluation.scores import GIVEN_UP_SPEEDUP
from coarsen.opencl_bench.reporting.figures.draw_best_factors import draw_best_factors
from coarsen.opencl_bench.reporting.figures.draw_curves import draw_curves
from coarsen.opencl_bench.reporting.figures.draw_hinton import draw_hinton
from coarsen.opencl_bench.reporting.figures.draw_portability import draw_portability
from coarsen.opencl_bench.reporting.figures.draw_violins import draw_violins
from coarsen.opencl_bench.reporting.figures.findings import curves_finding, violins_finding
from coarsen.opencl_bench.reporting.numbers.best_factors import best_factor_shares, best_factors_finding
from coarsen.opencl_bench.reporting.numbers.curve_rows import curve_frame
from coarsen.opencl_bench.reporting.numbers.curves import curve_points
from coarsen.opencl_bench.reporting.numbers.hinton import top_shares
from coarsen.opencl_bench.reporting.numbers.portability import transfers
from coarsen.opencl_bench.reporting.numbers.violins import violin_points
from coarsen.opencl_bench.results.best_table import best_table, geometric_means
from coarsen.opencl_bench.results.curve_files import read_curves
from coarsen.opencl_bench.results.curves import Curve
from coarsen.opencl_bench.results.rows import NEEDED
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
    assert violins_finding(violin_points(rows)) == (
        f"75 % of the measured coarsened configurations on {RADEON} and 67 % on {GTX} are faster than the "
        "baseline; speed-ups reach from 0.5 to 4"
    )
    pairs = transfers(rows).set_index(["benchmark", "tuned_on", "run_on"])
    assert pairs.loc[("mt", RADEON, GTX), "configuration"] == "factor 4 along dimension 0"
    assert pairs.loc[("mt", RADEON, GTX), "relative"] == pytest.approx(0.75)
    assert pairs.loc[("nbody", RADEON, GTX), "relative"] == pytest.approx(0.5)
    means = geometric_means(best_table(rows)).set_index("label")["speedup"]
    assert means.to_dict() == pytest.approx({RADEON: math.sqrt(5.0), GTX: math.sqrt(2.0)})


def test_a_factor_without_a_time_is_shown_as_failed() -> None:
    rows = curve_frame([*CURVES[:3], curve("nbody", "cypress", {4: 2.0})])
    pairs = transfers(rows).set_index(["benchmark", "tuned_on", "run_on"])
    assert pairs.loc[("nbody", RADEON, GTX), "outcome"] == "missing"
    text = written(draw_portability(rows))
    assert "no time" in text and "Hatched: it failed there (no time: could not run)." in text
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
    assert "the outline shows" not in written(draw_violins(rows))
    with pytest.raises(InvalidInputError, match="the local sizes of some configurations are not known"):
        draw_hinton(rows)
    assert set(top_shares(rows, "dimension")["value"]) == {"none", "0"}


def test_curves_and_measurements_make_one_figure() -> None:
    together = pd.concat([frame_of([row("mt"), row("mt", 2, 2.0)]), curve_frame(CURVES)])
    figure = draw_curves(together)
    assert [entry.get_text() for entry in figure.legends[0].get_texts()][:3] == [
        *("AMD EPYC (Intel)", RADEON, GTX),
    ]
    unknown = f"Problem sizes differ: preset test on AMD EPYC (Intel); unknown on {RADEON} and {GTX}."
    assert unknown in written(figure)


def test_the_best_factors_of_table_5() -> None:
    shares = best_factor_shares(read_curves(str(PUBLISHED)).curves)
    assert list(shares["label"].unique()) == [GTX, "NVIDIA Tesla K20c", RADEON, "AMD Radeon HD 7970"]
    assert shares.groupby("label")["share"].sum().tolist() == pytest.approx([1.0] * 4)
    assert set(shares.groupby("label")["curves"].sum()) == {17}


def test_the_finding_of_best_factors() -> None:
    curves = [Curve(kernel, "fermi", 0, None, {}, best) for kernel, best in (("mt", 4), ("nbody", 1))]
    curves += [Curve("mt", "mine", 0, None, {}, 2), Curve("mt", "tahiti", 0, None, {}, 2)]
    assert best_factors_finding(best_factor_shares(curves)) == (
        f"The factor that is most often the best is 1 or 4 on {GTX}; 2 on mine and AMD Radeon HD 7970"
    )
    with pytest.raises(InvalidInputError, match="there are no curves"):
        best_factor_shares([])


def squares(axes: Axes) -> list[float]:
    return [patch.get_width() * patch.get_height() for patch in axes.patches if patch.get_gid() == "share"]


def test_best_factors_are_drawn() -> None:
    curves = [Curve(kernel, "fermi", 0, None, {}, 4) for kernel in ("mt", "nbody", "sgemm")]
    curves += [Curve("mt", "tahiti", 0, None, {}, 2), Curve("nbody", "tahiti", 0, None, {}, 4)]
    figure = draw_best_factors(curves)
    axes = figure.axes[0]
    assert squares(axes) == pytest.approx([squares(axes)[2] / 2, squares(axes)[2] / 2, 0.92**2])
    assert [label.get_text() for label in axes.get_yticklabels()] == ["AMD Radeon HD 7970 (2)", f"{GTX} (3)"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "2", "4", "8", "16", "32"]
    assert sorted(text.get_text() for text in axes.texts) == ["1", "1", "3"]
