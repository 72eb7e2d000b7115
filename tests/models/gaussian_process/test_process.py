"""The Gaussian process: its posterior under each choice of parameters, averaged by their likelihoods."""

from __future__ import annotations

import math

import numpy as np
import pytest

from coarsen.models.gaussian_process import process
from coarsen.models.gaussian_process.process import NOISE, Array, Parameters, Points, losses, posterior

ONE = Parameters(common=0.1, alike=0.2, own=0.1, length=1.0, across=0.5, straight=0.3)


def covariance(one: Points, other: Points, chosen: Parameters) -> Array:
    """What the module's first lines say, one entry after the other."""
    found = np.zeros((len(one.steps), len(other.steps)))
    for row, column in np.ndindex(*found.shape):
        distance = float(((one.inputs[row] - other.inputs[column]) ** 2).mean())
        kernels = chosen.common + chosen.alike * math.exp(-distance / (2 * chosen.length**2))
        kernels += chosen.own * (one.families[row] == other.families[column])
        first, second = one.steps[row], other.steps[column]
        steps = chosen.straight * first * second / 9 + (1 - chosen.straight) * min(first, second) / 3
        devices = 1.0 if one.devices[row] == other.devices[column] else chosen.across
        found[row, column] = kernels * steps * devices
    return found


def drawn(count: int, seed: int) -> Points:
    draw = np.random.default_rng(seed)
    return Points(
        inputs=draw.normal(size=(count, 3)),
        families=[f"family {number}" for number in draw.integers(0, 3, count)],
        devices=[("fermi", "cypress")[number] for number in draw.integers(0, 2, count)],
        steps=draw.integers(1, 6, count).astype(float),
    )


def test_the_posterior_is_that_of_its_covariance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "GRID", (ONE,))
    known, asked = drawn(9, 0), drawn(4, 1)
    speeds = np.random.default_rng(2).normal(size=9)
    found = posterior(known, speeds, asked)
    within, between = covariance(known, known, ONE) + NOISE * np.eye(9), covariance(asked, known, ONE)
    assert found.means == pytest.approx(between @ np.linalg.solve(within, speeds))
    wanted = np.diag(covariance(asked, asked, ONE) - between @ np.linalg.solve(within, between.T))
    assert found.variances == pytest.approx(wanted)


def test_parameters_count_by_their_likelihood(monkeypatch: pytest.MonkeyPatch) -> None:
    known, asked = drawn(9, 0), drawn(4, 1)
    speeds = np.random.default_rng(2).normal(size=9)
    unlikely = Parameters(common=1e-6, alike=1e-6, own=1e-6, length=1.0, across=0.5, straight=0.3)
    monkeypatch.setattr(process, "GRID", (ONE,))
    alone = posterior(known, speeds, asked)
    monkeypatch.setattr(process, "GRID", (ONE, unlikely))
    assert posterior(known, speeds, asked).means == pytest.approx(alone.means)
    monkeypatch.setattr(process, "GRID", (ONE, ONE))
    assert posterior(known, speeds, asked).variances == pytest.approx(alone.variances)


def test_expected_losses() -> None:
    draw = np.random.default_rng(0).normal(size=200_000)
    for mean, deviation in ((0.0, 1.0), (0.5, 0.3), (-1.0, 0.5)):
        samples = mean + deviation * draw
        found = losses(np.array([mean]), np.array([deviation**2]))
        assert found[0] == pytest.approx(np.maximum(0.0, -samples).mean(), abs=0.01)
    assert losses(np.array([1.0, -1.0]), np.zeros(2)) == pytest.approx([0.0, 1.0])
