"""The shipped default model: it learned from synthetic kernels alone, and answers for the seventeen everywhere."""

from __future__ import annotations

import functools
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from coarsen.features import FACTORS, feature_tables
from coarsen.frontend.lower import lower
from coarsen.models.best_factors import DEVICES
from coarsen.models.default.model import DefaultModel
from coarsen.models.default.storage import load_default
from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS
from coarsen.opencl_bench.results.measured_curves import read_curves
from coarsen.opencl_bench.workloads.lookup import SUITE

MEASURED = Path(__file__).parents[3] / "opencl_bench" / "data"


@functools.cache
def shipped() -> DefaultModel:
    return load_default()


def learned_from() -> dict[str, Any]:
    data = shipped().card["data"]
    assert isinstance(data, dict)
    return data


def test_it_has_seen_no_curve_of_a_benchmark() -> None:
    assert all(name.startswith("synthetic-") for name in shipped().neighbourhood.kernels)


def test_it_learned_from_the_measurements_beside_it() -> None:
    files = sorted(MEASURED.glob("synthetic_*.parquet"))
    curves = [curve for file in files for curve in read_curves(str(file)).curves]
    assert learned_from()["sources"][:-1] == [file.name for file in files]
    assert learned_from()["curves"] == Counter(curve.device for curve in curves)
    assert set(shipped().neighbourhood.kernels) == {curve.kernel for curve in curves}


def test_the_devices_of_table_5_are_adjusted_to() -> None:
    assert learned_from()["best_factors"] == dict.fromkeys(DEVICES, len(SUITE))
    assert set(shipped().adjustments) == set(DEVICES)


@pytest.mark.parametrize("name", SUITE)
def test_it_answers_for_every_benchmark_on_every_device(name: str) -> None:
    driver = SUITE[name]
    kernel = lower(driver.source, driver.kernel, driver.build_options)
    features = feature_tables(kernel, 0, driver.preset("cpu").local_size)
    for descriptor in DEVICE_DESCRIPTORS.values():
        predicted = shipped().predict(*features, descriptor)
        possible = {point.factor for point in predicted.curve if point.possible}
        assert [point.factor for point in predicted.curve] == list(FACTORS[1:])
        assert predicted.factor in possible | {1}
        assert all(point.low < point.log_speedup < point.high < math.inf for point in predicted.curve)
        assert all(0 < chance < 1 for chance in predicted.step_probability.values())
