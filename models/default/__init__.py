"""The default predictor: a forest over all devices that answers with a whole curve and how sure it is.

Prediction needs NumPy alone; `training`, `forest` and `method` need scikit-learn, and are not imported from here.
"""

from coarsen.models.default.model import DefaultModel
from coarsen.models.default.prediction import CurvePrediction, FactorPrediction, Influence
from coarsen.models.default.storage import has_default, load_default, save_default

__all__ = [
    "CurvePrediction",
    "DefaultModel",
    "FactorPrediction",
    "Influence",
    "has_default",
    "load_default",
    "save_default",
]
