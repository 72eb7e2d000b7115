"""What the tests of the predictors share: the features of the seventeen kernels."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from coarsen.features import FeatureTable, feature_table
from coarsen.frontend.lower import lower
from coarsen.opencl_bench.workloads.lookup import SUITE


@pytest.fixture(scope="session")
def tables() -> Mapping[str, FeatureTable]:
    """The features of the seventeen kernels along dimension 0."""
    return {
        name: feature_table(lower(driver.source, driver.kernel, driver.build_options))
        for name, driver in SUITE.items()
    }
