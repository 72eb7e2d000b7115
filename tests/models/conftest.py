"""What the tests of the predictors share: the features of the seventeen kernels, and models trained briefly."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from coarsen.features import FeatureTable, feature_table
from coarsen.frontend.lower import lower
from coarsen.models.best_factors import read_best_factors
from coarsen.models.network_training import NetworkSettings
from coarsen.models.train import TrainedModel, train_device
from coarsen.opencl_bench.suite import SUITE

BRIEF = NetworkSettings(iterations=20)


@pytest.fixture(scope="session")
def tables() -> Mapping[str, FeatureTable]:
    """The features of the seventeen kernels along dimension 0."""
    return {
        name: feature_table(lower(driver.source, driver.kernel, driver.build_options))
        for name, driver in SUITE.items()
    }


@pytest.fixture(scope="session")
def kepler(tables: Mapping[str, FeatureTable]) -> TrainedModel:
    """A model whose last two steps have too few examples for a network."""
    published = read_best_factors("kepler")
    return train_device("kepler", tables, published.best, 0, published.published_prediction, settings=BRIEF)
