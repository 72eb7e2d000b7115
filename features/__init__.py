"""The static features of a kernel, at any coarsening factor, as the predictors take them.

Names are loaded when first used: who plans work does without them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coarsen.lazy_names import lazy_names

if TYPE_CHECKING:
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
    from coarsen.features.mechanism_vector import (
        MECHANISM_FEATURE_SET_VERSION,
        MECHANISM_FEATURES,
        MechanismFeatures,
    )

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

_MODULE_OF = {
    "FACTORS": "feature_table",
    "FEATURES": "feature_vector",
    "FEATURE_SETS": "feature_vector",
    "FEATURE_SET_VERSION": "feature_vector",
    "MECHANISM_FEATURES": "mechanism_vector",
    "MECHANISM_FEATURE_SET_VERSION": "mechanism_vector",
    "PUBLISHED_FEATURES": "feature_vector",
    "PUBLISHED_FEATURE_SET_VERSION": "feature_vector",
    "FeatureDescription": "feature_values",
    "FeatureTable": "feature_table",
    "Features": "feature_vector",
    "MechanismFeatures": "mechanism_vector",
    "MechanismTable": "mechanism_table",
    "extract": "extract",
    "feature_table": "extract",
    "feature_tables": "mechanism",
    "mechanism_table": "mechanism",
    "relative_delta": "feature_table",
}

__getattr__, __dir__ = lazy_names(__name__, {name: f"{__name__}.{module}" for name, module in _MODULE_OF.items()})
