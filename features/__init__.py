"""The static features of a kernel, at any coarsening factor, as the predictors take them."""

from coarsen.features.extract import extract, feature_table
from coarsen.features.feature_table import FACTORS, FeatureTable, relative_delta
from coarsen.features.feature_values import FeatureDescription
from coarsen.features.feature_vector import (
    FEATURE_SET_VERSION,
    FEATURE_SETS,
    FEATURES,
    PUBLISHED_FEATURE_SET_VERSION,
    PUBLISHED_FEATURES,
    Features,
)
from coarsen.features.mechanism import feature_tables, mechanism_table
from coarsen.features.mechanism_table import MechanismTable
from coarsen.features.mechanism_vector import MECHANISM_FEATURE_SET_VERSION, MECHANISM_FEATURES, MechanismFeatures

__all__ = [
    "FACTORS",
    "FEATURES",
    "FEATURE_SETS",
    "FEATURE_SET_VERSION",
    "MECHANISM_FEATURES",
    "MECHANISM_FEATURE_SET_VERSION",
    "PUBLISHED_FEATURES",
    "PUBLISHED_FEATURE_SET_VERSION",
    "FeatureDescription",
    "FeatureTable",
    "Features",
    "MechanismFeatures",
    "MechanismTable",
    "extract",
    "feature_table",
    "feature_tables",
    "mechanism_table",
    "relative_delta",
]
