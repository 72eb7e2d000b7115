"""Distances between kernels, the nearest ones, and the distance from which on a kernel is too far."""

from __future__ import annotations

import numpy as np
import pytest

from coarsen.models.default.inputs import POINT_NAMES
from coarsen.models.default.novelty import fit_neighbourhood

WIDTH = len(POINT_NAMES)


def point(first: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.append(first, np.zeros(WIDTH - 1))


def test_distances_by_hand() -> None:
    known = fit_neighbourhood(["a", "b"], ["a", "b"], np.stack([point(0.0), point(2.0)]))
    nearest = known.nearest(point(3.0))
    assert [neighbour.kernel for neighbour in nearest] == ["b", "a"]
    # The standard deviation is 1; the root of the mean over all inputs, of which one differs.
    assert [neighbour.distance for neighbour in nearest] == pytest.approx([1 / WIDTH**0.5, 3 / WIDTH**0.5])
    assert known.strangest(point(3.0), 1) == POINT_NAMES[:1]


def test_kernels_of_the_same_family_do_not_stand_for_each_other() -> None:
    places = np.stack([point(0.0), point(0.001), point(5.0), point(5.001)])
    apart = fit_neighbourhood(["a", "b", "c", "d"], ["a", "b", "c", "d"], places)
    related = fit_neighbourhood(["a", "b", "c", "d"], ["ab", "ab", "cd", "cd"], places)
    assert related.limit > 100 * apart.limit


def test_a_kernel_that_was_measured_on_several_devices_is_one_point() -> None:
    known = fit_neighbourhood(["a", "a", "b"], ["a", "a", "b"], np.stack([point(0.0), point(0.0), point(1.0)]))
    assert known.kernels == ("a", "b")
    assert [neighbour.kernel for neighbour in known.nearest(point(0.0))] == ["a", "b"]


def test_with_one_family_nothing_is_too_far() -> None:
    known = fit_neighbourhood(["a", "b"], ["a", "a"], np.stack([point(0.0), point(1.0)]))
    assert known.limit == np.inf
