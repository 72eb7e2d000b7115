"""The rotation: orthogonal, at a maximum of the criterion, and what it finds where the answer is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from coarsen.models.cascade.training import varimax_rotation


def criterion(loadings: np.ndarray) -> float:
    """Kaiser's, of rows scaled to length 1."""
    normal = loadings / np.linalg.norm(loadings, axis=1, keepdims=True)
    return float(((normal**4).mean(axis=0) - (normal**2).mean(axis=0) ** 2).sum())


def turned(loadings: np.ndarray, angle: float) -> np.ndarray:
    """The loadings with their first two components turned."""
    rotation = np.eye(loadings.shape[1])
    rotation[:2, :2] = [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]
    return loadings @ rotation


def test_a_simple_structure_is_found_again() -> None:
    simple = np.array([[0.9, 0.0, 0.0], [0.8, 0.0, 0.0], [0.0, 0.7, 0.0], [0.0, 0.6, 0.0], [0.0, 0.0, -0.9]])
    mixed = turned(turned(simple, 0.5)[:, [0, 2, 1]], 0.7)
    found = mixed @ varimax_rotation(mixed)
    order = [int(np.abs(found[row]).argmax()) for row in (0, 2, 4)]
    assert np.abs(found[:, order]) == pytest.approx(np.abs(simple), abs=1e-6)


def test_no_rotation_of_two_components_is_better() -> None:
    loadings = np.random.default_rng(4).normal(size=(12, 2))
    rotation = varimax_rotation(loadings)
    best = criterion(loadings @ rotation)
    assert rotation @ rotation.T == pytest.approx(np.eye(2), abs=1e-12)
    assert best >= max(criterion(turned(loadings, angle)) for angle in np.linspace(0, math.pi, 400)) - 1e-9
    assert best > criterion(loadings)


def test_inputs_that_load_on_nothing_are_left_alone() -> None:
    loadings = np.random.default_rng(5).normal(size=(6, 3))
    padded = np.vstack([loadings, np.zeros((2, 3))])
    assert varimax_rotation(padded) == pytest.approx(varimax_rotation(loadings), abs=1e-9)


def test_one_component_stays_as_it_is() -> None:
    assert varimax_rotation(np.array([[0.5], [0.2]])) == pytest.approx(np.array([[1.0]]))
