"""The table of published best factors, and scores computed from factors."""

from __future__ import annotations

from pathlib import Path

import pytest

from coarsen.errors import InvalidInputError
from coarsen.models.best_factors import DEVICES, read_best_factors
from coarsen.models.evaluation import Evaluation, most_common_factor
from coarsen.opencl_bench.suite import SUITE


@pytest.mark.parametrize("gpu", DEVICES)
def test_the_table_covers_the_suite(gpu: str) -> None:
    known = read_best_factors(gpu)
    assert set(known.best) == set(known.published_prediction) == set(SUITE)


def test_published_values() -> None:
    known = read_best_factors("fermi")
    assert (known.best["sgemm"], known.published_prediction["sgemm"]) == (32, 8)
    assert read_best_factors("tahiti").best["mt"] == 32


def test_an_unknown_device_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInputError, match="no device 'voodoo'; it has: cypress, fermi, kepler, tahiti"):
        read_best_factors("voodoo")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("kernel,device\nmt,fermi\n", "lacks the columns best_factor, predicted_factor"),
        ("", "lacks the columns"),
        ("kernel,device,predicted_factor,best_factor\nmt,fermi,1,3\n", "'3' is not one of the factors"),
        ("kernel,device,predicted_factor,best_factor\nmt,fermi,1\n", "'None' is not one of the factors"),
    ],
)
def test_a_bad_table_is_an_input_error(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(content)
    with pytest.raises(InvalidInputError, match=message):
        read_best_factors("fermi", path)


def test_a_missing_table_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="can't be read"):
        read_best_factors("fermi", tmp_path / "none.csv")


def test_scores_by_hand() -> None:
    evaluation = Evaluation({"a": 1, "b": 8, "c": 4}, {"cascade": {"a": 1, "b": 4, "c": 32}})
    score = evaluation.score("cascade")
    assert (score.kernels, score.exact, score.within_one_step) == (3, 1, 2)
    assert score.mean_absolute_log2_error == pytest.approx((0 + 1 + 3) / 3)


def test_the_most_common_factor_is_the_smaller_of_two() -> None:
    assert most_common_factor([8, 2, 8, 2, 1]) == 2
    assert most_common_factor([8, 2, 8]) == 8
