"""What the tests of the cascade share: the examples of table 5, and a model trained on some of them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from coarsen.models.cascade.trained import TrainedModel, train_device
from coarsen.models.device_descriptors import PUBLISHED
from coarsen.models.examples import Example
from coarsen.opencl_bench.results.measured_curves import examples_of, read_curves

Published = Mapping[str, tuple[Example, ...]]


@pytest.fixture(scope="session")
def published() -> Published:
    """The seventeen kernels with their best factors, by device."""
    found: dict[str, tuple[Example, ...]] = {}
    for example in examples_of(read_curves(str(PUBLISHED)).curves).examples:
        found[example.device] = (*found.get(example.device, ()), example)
    return found


@pytest.fixture(scope="session")
def kepler(published: Published) -> TrainedModel:
    """A published cascade."""
    factors = read_curves(str(PUBLISHED)).predicted_on("kepler")
    return train_device(published["kepler"], published=factors, evaluation_seeds=2)
