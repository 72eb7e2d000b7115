"""The scores of predictors as tables."""

from __future__ import annotations

import math

import pytest

from coarsen.models import ENTRANTS, Choice, Evaluation, Outcome
from coarsen.opencl_bench.plots import hit_table, score_table
from tests.opencl_bench.reporting.figures.evaluations import example, small_evaluation


def test_what_each_method_gains() -> None:
    table = score_table(small_evaluation()).set_index(["device", "method"])
    assert list(table.index) == [("fermi", name) for name in ("never", "cascade", "oracle")]
    cascade, oracle = table.loc["fermi", "cascade"], table.loc["fermi", "oracle"]
    assert cascade["geometric_mean"] == pytest.approx(2 ** (1 / 6))
    assert cascade["of_oracle"] == pytest.approx(2 ** (1 / 6 - 1))
    assert (cascade["kernels"], cascade["seeds"], cascade["losses"]) == (2, 3, 1)
    assert (cascade["seed_low"], cascade["seed_high"]) == (pytest.approx(1.0), pytest.approx(math.sqrt(2)))
    assert (cascade["worst"], cascade["worst_kernel"]) == (0.5, "nbody")
    assert cascade["low"] <= cascade["geometric_mean"] <= cascade["high"]
    assert (oracle["worst_kernel"], oracle["seeds"]) == ("", 1)
    assert math.isnan(oracle["seed_low"])


def test_how_near_each_method_is() -> None:
    table = hit_table(small_evaluation()).set_index(["device", "method"])
    assert len(table) == 6
    fermi, tahiti = table.loc["fermi", "cascade"], table.loc["tahiti", "cascade"]
    assert (fermi["exact"], fermi["within_one_doubling"]) == (pytest.approx(1 / 3), 2)
    assert fermi["mean_error"] == pytest.approx((2 / 3 + 1) / 2)
    assert (tahiti["kernels"], tahiti["exact"], tahiti["mean_error"]) == (1, 0, 1)


def test_without_runtimes_there_are_no_gains() -> None:
    only = Outcome(example("mt", "tahiti", best=8), 0, Choice(4))
    assert score_table(Evaluation({"cascade": (only,)})).empty


def test_every_method_says_what_it_is() -> None:
    assert set(ENTRANTS) == {"never", "unique", "published", "cascade", "oracle"}
    assert all(entrant.description for entrant in ENTRANTS.values())
