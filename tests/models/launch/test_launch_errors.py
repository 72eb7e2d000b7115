"""Errors by quantiles: they hold that the largest of many predictions is too large."""

from __future__ import annotations

import numpy as np
import pytest

from coarsen.models.launch.decision import LEAST_CASES, Place, Seen, fit_errors, places_of
from tests.models.launch.made_up import case


def seen(count: int, device: str, bias: float) -> list[Seen]:
    """Predictions of what is 0 in truth, off by a normal error and a bias; the last one is uncoarsened."""
    random = np.random.default_rng(0)
    found = []
    for _ in range(count):
        predicted = np.append(bias + 0.1 * random.normal(size=6), 0.0)
        order = np.argsort(-predicted[:6])
        places = [Place.OTHER_COARSENED] * 6 + [Place.FASTEST_UNCOARSENED]
        places[order[0]] = Place.FASTEST_COARSENED
        found.append(Seen(device, device == "h200", predicted, tuple(places), np.zeros(7)))
    return found


def one(predicted: float, place: Place, device: str = "intel", is_gpu: bool = False) -> Seen:
    """A prediction of one launch, of which nothing came yet."""
    return Seen(device, is_gpu, np.array([predicted]), (place,), np.array([np.nan]))


def test_the_fastest_of_several_predictions_is_corrected_for_being_that() -> None:
    table = fit_errors(seen(400, "intel", 0.0))
    samples = table.samples(one(0.13, Place.FASTEST_COARSENED))
    assert samples.mean() == pytest.approx(0.0, abs=0.02)


def test_a_device_with_enough_cases_has_errors_of_its_own_and_others_those_of_their_kind() -> None:
    table = fit_errors([*seen(LEAST_CASES, "intel", 0.5), *seen(3, "h200", -0.5), *seen(3, "pocl", 0.5)])
    assert {"intel", "CPUs", "GPUs", "every device"} == set(table.binned)
    assert table.samples(one(0.0, Place.OTHER_COARSENED)).mean() < -0.3
    assert table.samples(one(0.0, Place.OTHER_COARSENED, "another", True)).mean() > 0.3


def test_what_was_never_seen_is_taken_at_its_word() -> None:
    samples = fit_errors([]).samples(one(0.25, Place.NEAR_COARSENED))
    assert samples.tolist() == [[0.25] * samples.shape[1]]


def test_places_are_by_predicted_speed() -> None:
    inputs = case(0, 0.5).inputs
    speeds = np.arange(len(inputs.variants), dtype=np.float64)
    places = places_of(speeds, inputs)
    coarsened = np.flatnonzero(inputs.is_coarsened)
    assert places[coarsened[-1]] is Place.FASTEST_COARSENED
    assert places[coarsened[-2]] is Place.NEAR_COARSENED
    assert places[coarsened[0]] is Place.OTHER_COARSENED
    assert places[np.flatnonzero(~inputs.is_coarsened)[-1]] is Place.FASTEST_UNCOARSENED
