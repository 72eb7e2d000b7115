"""Tables over factors and the relative deltas between them."""

from __future__ import annotations

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.features import FACTORS, feature_table, relative_delta
from tests.features.counted_kernels import GUARDED, NEIGHBOUR, extract, lowered


def test_a_table_holds_each_factor() -> None:
    kernel = lowered(GUARDED)
    table = feature_table(kernel)
    assert (table.kernel, table.dimension, table.factors) == ("guarded", 0, FACTORS)
    assert table.at(8) == extract(kernel, 0, 8)
    assert table.matrix().shape == (6, 17)
    assert np.array_equal(table.matrix()[0], extract(kernel).vector())


def test_factors_are_sorted_and_unique() -> None:
    assert feature_table(lowered(GUARDED), 0, (4, 1, 4)).factors == (1, 4)


def test_delta_is_relative_to_the_smaller_factor() -> None:
    table = feature_table(lowered(NEIGHBOUR))
    delta = dict(zip(table.at(1).by_name(), table.delta(2, 4), strict=True))
    assert delta["stores"] == (8 - 4) / 4
    assert delta["loads"] == pytest.approx((5 - 3) / 3)
    assert delta["barriers"] == delta["math_builtins"] == 0


def test_delta_from_zero_is_the_difference() -> None:
    before, after = np.array([0.0, 0.0, 2.0]), np.array([0.0, 3.0, 1.0])
    assert relative_delta(before, after).tolist() == [0.0, 3.0, -0.5]


def test_a_factor_that_is_not_in_the_table_is_an_error() -> None:
    with pytest.raises(InvalidInputError, match="no features at factor 2"):
        feature_table(lowered(GUARDED), 0, (1, 4)).at(2)
