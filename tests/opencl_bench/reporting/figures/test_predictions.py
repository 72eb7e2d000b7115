"""What predictors chose and what came of it: the numbers of table 5 and figure 10, and what is drawn of them."""

from __future__ import annotations

import math

import pandas as pd
import pytest
from matplotlib.colors import to_rgb

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.reporting.draw_evaluations import (
    MEAN,
    choice_table,
    draw_predictions,
    factor_table,
    markdown,
    predictions_finding,
    speedup_bars,
)
from coarsen.opencl_bench.reporting.sheet import VERMILLION, rendered
from tests.opencl_bench.reporting.figures.evaluations import small_evaluation


def test_one_row_for_each_kernel_and_method() -> None:
    choices = choice_table(small_evaluation()).set_index(["device", "kernel", "method"])
    assert len(choices) == 9
    row = choices.loc["fermi", "mt", "cascade"]
    assert (row["best"], row["factor"], row["share"]) == (4, 2, pytest.approx(2 / 3))
    assert (row["speedup"], row["low"], row["high"]) == (pytest.approx(2 ** (4 / 3)), 2.0, 4.0)
    assert choices.loc["fermi", "nbody", "oracle"]["speedup"] == 1.0
    assert math.isnan(choices.loc["tahiti", "mt", "cascade"]["speedup"])


def test_the_bars_are_those_of_measured_devices_and_their_means() -> None:
    bars = speedup_bars(choice_table(small_evaluation()))
    assert set(bars["device"]) == {"fermi"}
    assert set(bars["method"]) == {"cascade", "oracle"}
    means = bars[bars["kernel"] == MEAN].set_index("method")["speedup"]
    assert means.to_dict() == pytest.approx({"cascade": 2 ** ((4 / 3 - 1) / 2), "oracle": 2.0})


def test_without_runtimes_there_are_no_bars() -> None:
    choices = choice_table(small_evaluation())
    with pytest.raises(InvalidInputError, match="only best factors"):
        draw_predictions(choices[choices["device"] == "tahiti"])


def test_table_5_has_best_and_predicted_factors() -> None:
    table = factor_table(choice_table(small_evaluation()))
    assert markdown(table).splitlines() == [
        "| kernel | fermi best | fermi cascade | tahiti best | tahiti cascade |",
        "| --- | --- | --- | --- | --- |",
        "| mt | 4 | 2~ | 8 | 4 |",
        "| nbody | 1 | 2 |  |  |",
    ]


def test_the_finding_has_the_geometric_means() -> None:
    bars = speedup_bars(choice_table(small_evaluation()))
    head = "Nearest to the best factors on kernels held out, by the geometric mean: "
    assert predictions_finding(bars) == f"{head}cascade on fermi (1.12 of 2.00)"
    alike = bars[bars["method"] == "cascade"].assign(method="other")
    assert predictions_finding(pd.concat([bars, alike])) == f"{head}cascade and other on fermi (1.12 of 2.00)"


def test_the_finding_without_an_oracle_or_without_a_method() -> None:
    bars = speedup_bars(choice_table(small_evaluation()))
    alone, oracle = (predictions_finding(bars[bars["method"] == name]) for name in ("cascade", "oracle"))
    assert alone == "Largest geometric mean of the speed-ups on kernels held out: cascade on fermi (1.12)"
    assert oracle == "Geometric mean of the speed-ups of the best factors: 2.00 on fermi"


def test_the_drawing_shows_the_numbers() -> None:
    figure = draw_predictions(choice_table(small_evaluation()))
    (axes,) = figure.axes
    bars = [patch for patch in axes.patches if patch.get_facecolor()[:3] == to_rgb(VERMILLION)]
    heights = [1 + bar.get_height() for bar in bars]
    assert heights == pytest.approx([2 ** (4 / 3), 0.5, 2 ** (1 / 6)])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["mt", "nbody", MEAN]
    assert axes.get_title(loc="left") == "fermi"
    assert axes.get_title(loc="right") == "geometric means: cascade 1.12, oracle 2.00"
    (seeds,) = [lines for lines in axes.collections if lines.get_gid() == "seeds" and lines.get_segments()]
    assert seeds.get_segments()[0][:, 1].tolist() == [2.0, 4.0]
    for kind in ("png", "svg", "pdf"):
        assert rendered(figure, kind) == rendered(figure, kind)


def test_the_note_says_what_the_oracle_is() -> None:
    figure = draw_predictions(choice_table(small_evaluation()))
    note = " ".join(" ".join(text.get_text() for text in figure.texts).split())
    assert "Oracle: the best factor, known afterwards." in note


def test_methods_of_other_names_are_told_apart() -> None:
    choices = choice_table(small_evaluation())
    others = [choices[choices["method"] == "cascade"].assign(method=name) for name in ("one", "another")]
    (axes,) = draw_predictions(pd.concat([choices, *others])).axes
    looks = {(bar.get_facecolor(), bar.get_hatch()) for bar in axes.patches}
    assert len(looks) == 4
