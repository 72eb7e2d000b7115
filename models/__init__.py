"""The predictors of a kernel's best coarsening factor on a device.

Prediction needs NumPy alone; training (`coarsen.models.train`) needs torch, and is not imported from here.
"""

from .cascade.model import CascadeModel, Contribution, Prediction, Step
from .cascade.storage import available_models, load_model

__all__ = ["CascadeModel", "Contribution", "Prediction", "Step", "available_models", "load_model"]
