"""A noisy device beside a calm one: each has intervals of its own width."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from coarsen.models.default.device_scales import DeviceScales, fit_device_scales
from coarsen.models.default.error_model import ErrorModel, fit_error_model
from coarsen.models.default.inputs import Array
from coarsen.models.default.model import DefaultModel
from coarsen.models.default.training import ForestSettings, train
from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS, unknown_descriptor
from coarsen.models.examples import Example
from tests.models.default.made_up import example_of, made_up_kernel, with_best_factor_alone

POCL, INTEL, H200, TAHITI = (DEVICE_DESCRIPTORS[name] for name in ("pocl", "intel", "h200", "tahiti"))
# The standard deviation of what was measured on each device.
NOISE = {"pocl": 0.02, "intel": 0.5}


def squares(*values: float) -> Array:
    """Curves whose errors have these squares at all factors."""
    return np.array(values)[:, np.newaxis] * np.ones(5)


def test_a_device_has_the_mean_of_its_squares() -> None:
    devices = [POCL, INTEL] * 30
    found = fit_device_scales(squares(*[0.5, 1.5] * 30), np.ones((60, 5)), devices)
    assert found.devices == {"intel": pytest.approx(1.5), "pocl": pytest.approx(0.5)}
    assert found.of(POCL) == pytest.approx(0.5)
    assert found.of(INTEL) == pytest.approx(1.5)


def test_weights_count_and_what_was_not_measured_does_not() -> None:
    weight = np.ones((31, 5))
    weight[0], weight[1, 1:] = 6.0, 0.0
    found = fit_device_scales(squares(5.0, *[1.0] * 30), weight, [POCL] * 31)
    assert found.of(POCL) == pytest.approx((6 * 5 * 5.0 + 1 + 29 * 5) / (6 * 5 + 1 + 29 * 5))


def test_a_device_with_few_curves_is_like_its_kind() -> None:
    devices = [POCL] * 30 + [INTEL] * 29 + [H200] * 3
    found = fit_device_scales(squares(*[0.5] * 30, *[2.0] * 29, *[3.0] * 3), np.ones((62, 5)), devices)
    assert set(found.devices) == {"pocl"}
    assert found.of(INTEL) == pytest.approx((30 * 0.5 + 29 * 2.0) / 59)
    assert found.of(H200) == found.of(TAHITI) == pytest.approx(3.0)


def test_a_curve_without_an_error_is_no_curve() -> None:
    weight = np.ones((30, 5))
    weight[4] = 0.0
    assert fit_device_scales(squares(*[2.0] * 30), weight, [POCL] * 30).devices == {}


def test_a_device_of_an_unknown_kind_has_the_scale_of_all() -> None:
    found = fit_device_scales(squares(*[0.5] * 40), np.ones((40, 5)), [POCL] * 40)
    assert found.of(H200) == 1.0
    assert found.of(unknown_descriptor("some CPU", is_gpu=False)) == pytest.approx(0.5)


def test_a_device_without_errors_keeps_a_variance() -> None:
    found = fit_device_scales(squares(*[0.0] * 30), np.ones((30, 5)), [POCL] * 30)
    assert 0.0 < found.of(POCL) < 0.01


def drawn(count: int, seed: int) -> tuple[Array, Array]:
    """What was observed where 0 was predicted: on the noisy device, then on the calm one; (2 · count, 5)."""
    standard = np.random.default_rng(seed).normal(size=(2, count, 5))
    deviation = np.array([NOISE["intel"], NOISE["pocl"]])[:, np.newaxis, np.newaxis]
    return (standard * deviation).reshape(-1, 5), np.zeros((2 * count, 5))


def coverage(model: ErrorModel, observed: Array) -> list[float]:
    """The share within the 80 % interval, on the noisy device and on the calm one."""
    count, nothing = len(observed) // 2, np.zeros(5)
    bounds = (model.bounds(model.distribution(nothing, nothing, device)) for device in (INTEL, POCL))
    parts = (observed[:count], observed[count:])
    return [
        float(((low <= part) & (part <= high)).mean()) for (low, high), part in zip(bounds, parts, strict=True)
    ]


def test_intervals_hold_on_each_device_and_would_not_with_a_shared_scale() -> None:
    observed, mean = drawn(400, seed=0)
    devices = [INTEL] * 400 + [POCL] * 400
    model = fit_error_model(observed, mean, np.zeros_like(mean), np.ones(800), devices)
    fresh, _ = drawn(400, seed=1)
    assert coverage(model, fresh) == pytest.approx([0.8, 0.8], abs=0.03)
    shared = coverage(replace(model, scales=DeviceScales()), fresh)
    assert shared[1] > 0.99
    scales = model.scales.devices
    assert scales["intel"] / scales["pocl"] == pytest.approx((NOISE["intel"] / NOISE["pocl"]) ** 2, rel=0.15)
    assert (scales["intel"] + scales["pocl"]) / 2 == pytest.approx(1.0)


def noisy_and_calm(count: int, first: int) -> Iterator[Example]:
    random = np.random.default_rng(first)
    for number in range(first, first + count):
        kernel = made_up_kernel(number, random)
        for device, noise in NOISE.items():
            yield example_of(kernel, device, random, noise)


@pytest.fixture(scope="module")
def model() -> DefaultModel:
    measured = tuple(noisy_and_calm(90, first=0))
    known = [with_best_factor_alone(example, "tahiti", example.best_factor) for example in measured[:20:2]]
    return train([*measured, *known], settings=ForestSettings(trees=80)).model


def interval_coverage(model: DefaultModel, device: str) -> float:
    inside = []
    for example in noisy_and_calm(60, first=1000):
        if example.device == device:
            predicted = model.predict(example.table, example.mechanism, DEVICE_DESCRIPTORS[device])
            inside += [point.low <= example.log_speedup(point.factor) <= point.high for point in predicted.curve]
    return float(np.mean(inside))


@pytest.mark.parametrize("name", sorted(NOISE))
def test_the_models_intervals_hold_on_each_device(model: DefaultModel, name: str) -> None:
    assert 0.7 < interval_coverage(model, name) < 0.93


def test_factors_are_worth_more_on_a_calm_device_and_less_on_a_noisy_one(model: DefaultModel) -> None:
    shared = replace(model, errors=replace(model.errors, scales=DeviceScales()))
    assert interval_coverage(shared, "pocl") > 0.95
    for example in noisy_and_calm(10, first=1000):
        descriptor = DEVICE_DESCRIPTORS[example.device]
        own, common = (
            each.predict(example.table, example.mechanism, descriptor).curve for each in (model, shared)
        )
        for one, other in zip(own, common, strict=True):
            assert (one.utility > other.utility) == (example.device == "pocl")


def test_a_device_with_best_factors_alone_has_the_scale_of_its_kind(model: DefaultModel) -> None:
    """No GPU was measured here."""
    assert model.errors.scales.of(TAHITI) == 1.0
    assert set(model.errors.scales.devices) == set(NOISE)
