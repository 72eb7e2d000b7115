"""The static features of a kernel, at any coarsening factor, as the predictors take them."""

from .extract import extract, feature_table
from .feature_table import FACTORS, FeatureTable, relative_delta
from .feature_vector import FEATURE_SET_VERSION, FEATURES, FeatureDescription, Features

__all__ = [
    "FACTORS",
    "FEATURES",
    "FEATURE_SET_VERSION",
    "FeatureDescription",
    "FeatureTable",
    "Features",
    "extract",
    "feature_table",
    "relative_delta",
]
