"""Methods that need no features."""

from __future__ import annotations

import pytest

from coarsen.models.evaluation.evaluation import ENTRANTS, best_single_factor, fit_unique
from coarsen.models.examples import Fit
from tests.models.evaluation.made_up import made_up


def test_never_coarsens() -> None:
    fit = ENTRANTS["never"].fit
    assert fit is not None
    (never,) = fit([Fit((made_up("sgemm", {2: 4.0}),), 0)])
    assert never(made_up("mt", {}).blind()) == 1


def test_unique_by_hand() -> None:
    # Products of speed-ups: at 2: 1.5 · 0.9 = 1.35; at 4: 2.0 · 0.6 = 1.2.
    training = [made_up("sgemm", {2: 1.5, 4: 2.0}), made_up("spmv", {2: 0.9, 4: 0.6})]
    assert best_single_factor(training) == 2
    # Without the second kernel 4 is best, without the first 1.
    assert (best_single_factor(training[:1]), best_single_factor(training[1:])) == (4, 1)


def test_a_factor_that_cannot_run_counts_as_the_next_smaller_one() -> None:
    # At 4 the second kernel runs with 2: 2.0 · 1.1 against 1.5 · 1.1 at 2.
    assert best_single_factor([made_up("sgemm", {2: 1.5, 4: 2.0}), made_up("nbody", {2: 1.1})]) == 4


def test_the_smaller_of_equal_factors() -> None:
    assert best_single_factor([made_up("sgemm", {2: 1.5, 4: 1.5})]) == 2
    assert best_single_factor([made_up(f"k{i}", {}, best=best) for i, best in enumerate((8, 4, 8, 4, 2))]) == 4


def test_of_best_factors_the_most_common() -> None:
    assert best_single_factor([made_up(f"k{best}{i}", {}, best=best) for i, best in enumerate((4, 1, 4))]) == 4


@pytest.mark.parametrize(
    ("place", "dimension", "factor"), [("fermi", 0, 4), ("cypress", 0, 2), ("fermi", 1, 8), ("tahiti", 0, 1)]
)
def test_each_device_and_dimension_has_its_own(place: str, dimension: int, factor: int) -> None:
    training = (
        made_up("sgemm", {2: 1.5, 4: 2.0}, "fermi"),
        made_up("sgemm", {2: 1.5, 4: 1.0}, "cypress"),
        made_up("sgemm", {8: 2.0}, "fermi", dimension=1),
    )
    (predictor,) = fit_unique([Fit(training, 0)])
    assert predictor(made_up("mt", {}, place, dimension).blind()) == factor
