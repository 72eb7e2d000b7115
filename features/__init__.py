"""The static features of a kernel, at any coarsening factor, as the predictors take them."""

from .extract import extract, feature_table
from .feature_table import FACTORS, FeatureTable, relative_delta
from .feature_values import FeatureDescription
from .feature_vector import FEATURE_SET_VERSION, FEATURES, Features
from .mechanism import feature_tables, mechanism_table
from .mechanism_table import MechanismTable
from .mechanism_vector import MECHANISM_FEATURE_SET_VERSION, MECHANISM_FEATURES, MechanismFeatures

__all__ = [
    "FACTORS",
    "FEATURES",
    "FEATURE_SET_VERSION",
    "MECHANISM_FEATURES",
    "MECHANISM_FEATURE_SET_VERSION",
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
