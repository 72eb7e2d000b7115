"""Quality of searches against the share of the space: the numbers and what is drawn of them."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.plots import draw_search, mean_curves, quality_at, quality_curves, rendered
from coarsen.opencl_bench.reporting.figures.style import PAGE_WIDTH, SMALLEST_SIZE
from coarsen.opencl_bench.reporting.numbers.search import geometric_means, planned_shares, search_finding
from coarsen.opencl_bench.search.replay_rows import COLUMNS, TYPES
from tests.opencl_bench.reporting.figures.writing import texts, written

NAN = math.nan


def run(
    space: str, searcher: str, seed: int, *qualities: float, planned: int | None = None
) -> list[tuple[object, ...]]:
    """The rows of a run on a space of ten configurations."""
    return [
        (space, 10, searcher, seed, tried, tried / 10, planned, 1.0, quality, NAN, NAN, NAN, 2.0 * tried)
        for tried, quality in enumerate(qualities, 1)
    ]


def exact(space: str, *qualities: float) -> list[tuple[object, ...]]:
    """The rows of random search."""
    return [
        (space, 10, "random", None, tried, tried / 10, None, NAN, quality, quality / 2, 1.0, quality, 1.0 * tried)
        for tried, quality in enumerate(qualities, 1)
    ]


def frame(*runs: list[tuple[object, ...]]) -> pd.DataFrame:
    return pd.DataFrame([row for own in runs for row in own], columns=list(COLUMNS)).astype(TYPES)


ROWS = frame(
    *(run("one", "additive", seed, 0.2, 0.4 + seed / 10, planned=1) for seed in range(3)),
    exact("one", 0.3, 0.6, 0.9),
    *(run("two", "additive", seed, 0.8, 0.8, 1.0, planned=2) for seed in range(3)),
    exact("two", 0.5, 0.6, 0.4),
)


def test_medians_and_quartiles_over_seeds() -> None:
    curves = quality_curves(ROWS)
    own = curves[(curves["space"] == "one") & (curves["searcher"] == "additive")]
    assert own["quality"].tolist() == pytest.approx([0.2, 0.5])
    assert own["lower"].tolist() == pytest.approx([0.2, 0.45])
    assert own["upper"].tolist() == pytest.approx([0.2, 0.55])
    assert (own["seeds"].tolist(), own["seconds"].tolist()) == ([3, 3], [2.0, 4.0])
    random = curves[(curves["space"] == "one") & (curves["searcher"] == "random")]
    assert random["lower"].tolist() == pytest.approx([0.15, 0.3, 0.45])
    assert random["seeds"].tolist() == [0, 0, 0]


def test_a_run_that_ended_keeps_what_it_found() -> None:
    curves = quality_curves(frame(run("one", "a", 0, 0.2), run("one", "a", 1, 0.4, 1.0)))
    assert curves["quality"].tolist() == pytest.approx([0.3, 0.6])
    at = quality_at(curves, [0.05, 0.1, 0.5, 1.0])
    assert at.loc[("one", "a")].tolist() == pytest.approx([NAN, 0.3, 0.6, 0.6], nan_ok=True)


def test_geometric_means_need_every_space() -> None:
    means = geometric_means(quality_at(quality_curves(ROWS), [0.2]))
    assert means[0.2].to_dict() == pytest.approx({"additive": math.sqrt(0.5 * 0.8), "random": 0.6})
    some = pd.concat([ROWS, frame(run("two", "other", 0, 1.0))])
    assert math.isnan(geometric_means(quality_at(quality_curves(some), [0.2])).loc["other", 0.2])
    assert set(mean_curves(quality_curves(some))["searcher"]) == {"additive", "random"}


def test_nothing_found_is_a_mean_of_nought() -> None:
    rows = frame(run("one", "a", 0, 0.0), run("two", "a", 0, 1.0))
    assert geometric_means(quality_at(quality_curves(rows), [0.1])).loc["a", 0.1] == 0.0


def test_shares_that_an_additive_prediction_needs() -> None:
    shares = planned_shares(ROWS)
    assert shares["planned"].to_dict() == pytest.approx({"one": 0.1, "two": 0.2})
    assert shares["checked"].to_dict() == pytest.approx({"one": 0.6, "two": 0.7})


def test_the_finding_names_all_searchers() -> None:
    means = geometric_means(quality_at(quality_curves(ROWS), [0.2]))
    assert search_finding(means, 2) == (
        "After 20 % of each space, additive is at 0.63, random is at 0.60 of the optimum"
    )


def test_a_panel_for_each_space_and_one_of_the_mean() -> None:
    figure = draw_search(ROWS)
    panels = [axes for axes in figure.axes if axes.axison]
    assert [axes.get_title() for axes in panels] == ["one", "two", "geometric mean"]
    one, _, mean = panels
    assert one.get_xscale() == "log"
    drawn = {line.get_gid(): line for line in one.lines}
    assert list(drawn["curve additive"].get_ydata()) == pytest.approx([0.2, 0.5])
    assert drawn["curve additive"].get_drawstyle() == "steps-post"
    assert (drawn["planned"].get_xdata()[0], drawn["checked"].get_xdata()[0]) == pytest.approx((0.1, 0.6))
    assert {"curve additive", "curve random"} <= {line.get_gid() for line in mean.lines}
    assert not [line for line in mean.lines if line.get_gid() == "planned"]
    assert "medians over 3 seeds" in written(figure) and "Random search is computed exactly" in written(figure)


def test_many_searchers_are_told_apart_and_have_one_band() -> None:
    names = [f"searcher {number}" for number in range(9)]
    seeds = [1, 2, 3, *[3] * 6]
    figure = draw_search(
        frame(
            *(
                run("one", n, seed, 0.2, 0.9)
                for n, count in zip(names, seeds, strict=True)
                for seed in range(count)
            )
        )
    )
    (axes,) = (each for each in figure.axes if each.axison)
    looks = [(line.get_color(), line.get_linestyle(), str(line._unscaled_dash_pattern)) for line in axes.lines]
    assert len(set(looks)) == len(looks)
    assert [band.get_gid() for band in axes.collections] == ["quartiles searcher 0"]
    assert "medians over 1 to 3 seeds; bands: quartiles of searcher 0." in written(figure)


def test_the_figure_can_be_read_in_print_and_is_reproducible() -> None:
    spaces = [f"a space with quite a long name {number}" for number in range(7)]
    rows = frame(
        *(run(space, "additive", 0, 0.5, 1.0) for space in spaces), *(exact(space, 0.4) for space in spaces)
    )
    figure = draw_search(rows)
    assert min(text.get_fontsize() for text in texts(figure)) >= SMALLEST_SIZE
    assert figure.get_size_inches()[0] <= PAGE_WIDTH + 0.01
    assert rendered(figure, "svg") == rendered(draw_search(rows), "svg")


@pytest.mark.parametrize(
    ("choices", "ticks"), [(10, [0.1, 0.3, 1.0]), (20, [0.1, 0.3, 1.0]), (3000, [0.001, 0.01, 0.1, 1.0])]
)
def test_ticks_do_not_run_into_each_other(choices: int, ticks: list[float]) -> None:
    rows = frame(exact("one", *[0.5] * choices))
    rows["share"] = rows["tried"] / choices
    figure = draw_search(rows.assign(choices=choices))
    assert figure.axes[0].get_xticks().tolist() == ticks


def test_one_space_has_no_mean() -> None:
    figure = draw_search(frame(exact("one", 0.4, 0.5)))
    assert [axes.get_title() for axes in figure.axes if axes.axison] == ["one"]
    assert "medians over all ways to draw" in written(figure)


def test_what_cannot_be_shown() -> None:
    with pytest.raises(InvalidInputError, match="has no column space"):
        draw_search(pd.DataFrame({"kernel": []}))
    with pytest.raises(InvalidInputError, match="no trials"):
        draw_search(frame())
