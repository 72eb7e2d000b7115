"""The static features of a kernel, at any coarsening factor, as the predictors take them."""

from coarsen.features.extract import feature_table
from coarsen.features.feature_table import (
    FACTORS,
    FEATURE_SET_VERSION,
    FEATURES,
    FeatureDescription,
    Features,
    FeatureTable,
    relative_delta,
)

__all__ = [
    "FACTORS",
    "FEATURES",
    "FEATURE_SET_VERSION",
    "FeatureDescription",
    "FeatureTable",
    "Features",
    "feature_table",
    "relative_delta",
]
