"""The predictors of a kernel's best coarsening factor on a device.

`default` is the model of all devices, `cascade` the published one of each device; `evaluation` compares them.
Prediction needs NumPy alone; training needs scikit-learn and torch, and is not imported from here.
"""

from .cascade.model import CascadeModel, Contribution, Prediction, Step
from .cascade.storage import available_models, load_model

__all__ = ["CascadeModel", "Contribution", "Prediction", "Step", "available_models", "load_model"]
