"""Predicted times corrected at a few inputs, and how far they are off."""

from __future__ import annotations

import math

import numpy as np
import pytest

from coarsen.models.inputs.anchors import anchor_rows, anchored
from coarsen.models.inputs.model_errors import kendall, model_errors

NAN = float("nan")


def test_anchors_reach_from_the_smallest_to_the_largest() -> None:
    assert anchor_rows([4.0, 1.0, 3.0, 9.0, 2.0]) == (1, 2, 3)
    assert anchor_rows([4.0, 1.0]) == (1, 0)
    assert anchor_rows([4.0]) == (0,)


def test_each_version_has_a_factor_for_each_bound() -> None:
    predicted = np.array([[1.0, 1.0], [2.0, 2.0], [4.0, 4.0], [8.0, 8.0]])
    bounds = [["groups", "compute"], ["groups", "compute"], ["memory", "compute"], ["memory", "compute"]]
    seconds = np.array([[2.0, 5.0], [NAN, NAN], [40.0, 20.0], [NAN, NAN]])
    found = anchored(predicted, bounds, seconds, (0, 2))
    assert found == pytest.approx(np.array([[2.0, 5.0], [4.0, 10.0], [40.0, 20.0], [80.0, 40.0]]))


def test_a_bound_without_an_anchor_has_the_factor_of_all() -> None:
    predicted = np.array([[1.0], [2.0], [4.0]])
    found = anchored(predicted, [["groups"], ["memory"], ["memory"]], np.array([[3.0], [9.0], [9.0]]), (0,))
    assert found[:, 0].tolist() == pytest.approx([3.0, 6.0, 12.0])


def test_nothing_but_the_anchors_is_looked_at_and_what_failed_there_has_no_time() -> None:
    predicted, bounds = np.array([[1.0, 1.0], [2.0, 2.0]]), [["memory"] * 2] * 2
    first = anchored(predicted, bounds, np.array([[3.0, NAN], [7.0, 1.0]]), (0,))
    second = anchored(predicted, bounds, np.array([[3.0, NAN], [1e9, 1e9]]), (0,))
    assert np.array_equal(first, second, equal_nan=True)
    assert first[:, 0].tolist() == pytest.approx([3.0, 6.0]) and np.isnan(first[:, 1]).all()


def test_errors_and_the_order_of_an_input_s_versions() -> None:
    seconds = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, NAN]])
    found = model_errors(np.array([[2.0, 4.0, 6.0], [2.0, 1.0, 9.0]]), seconds)
    assert found.absolute == pytest.approx(1.0)
    assert found.order == pytest.approx((1 - 1) / 2)
    assert found.predicted == 1.0
    some = model_errors(np.array([[1.0, NAN, 6.0], [NAN, NAN, NAN]]), seconds)
    assert some.predicted == pytest.approx(2 / 5)
    assert math.isnan(model_errors(np.full((2, 3), NAN), seconds).absolute)


def test_kendall_counts_pairs() -> None:
    assert kendall(np.array([1.0, 2.0, 3.0]), np.array([5.0, 7.0, 6.0])) == pytest.approx(1 / 3)
    assert kendall(np.array([1.0, 1.0]), np.array([1.0, 2.0])) == 0.0
