"""Measured times say how far what was expected is to be believed."""

from __future__ import annotations

import numpy as np
import pytest

from coarsen.tuning.search.surrogate import weight_of


def test_what_was_measured_says_how_far_to_believe() -> None:
    believed = np.array([0.0, 1.0, 2.0])
    assert weight_of(believed, 3 + believed / 2) == pytest.approx(0.5)
    assert weight_of(believed, 2 * believed) == 1
    assert weight_of(believed, -believed) == 0
    assert weight_of(np.ones(3), believed) == 1
