"""The predictors of how to coarsen a kernel on a device.

`launch` is the model that chooses among launches, `cascade` the published one, of factors, of each device;
`evaluation` says how good the latter is.
Prediction needs NumPy alone. Names are loaded when first used, and so are scikit-learn and torch, which training
and evaluation need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coarsen.base.names import lazy_names

if TYPE_CHECKING:
    from coarsen.models.cascade.model import (
        CascadeModel,
        Contribution,
        Prediction,
        Step,
        available_models,
        load_model,
    )
    from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS, PUBLISHED, DeviceDescriptor
    from coarsen.models.evaluation.evaluation import ENTRANTS, Entrant, Evaluation, Plan, evaluate
    from coarsen.models.evaluation.scores import HitScore, Outcome, SpeedupScore
    from coarsen.models.examples import Example, Predictor
    from coarsen.models.launch.model import LaunchModel
    from coarsen.models.launch.prediction import LaunchPrediction
    from coarsen.models.launch.storage import load_launch

__all__ = [
    "DEVICE_DESCRIPTORS",
    "ENTRANTS",
    "PUBLISHED",
    "CascadeModel",
    "Contribution",
    "DeviceDescriptor",
    "Entrant",
    "Evaluation",
    "Example",
    "HitScore",
    "LaunchModel",
    "LaunchPrediction",
    "Outcome",
    "Plan",
    "Prediction",
    "Predictor",
    "SpeedupScore",
    "Step",
    "available_models",
    "evaluate",
    "load_launch",
    "load_model",
]

_NAMES_IN = {
    "cascade.model": (
        *("CascadeModel", "Contribution", "Prediction", "Step"),
        *("available_models", "load_model"),
    ),
    "device_descriptors": ("DEVICE_DESCRIPTORS", "PUBLISHED", "DeviceDescriptor"),
    "evaluation.evaluation": ("ENTRANTS", "Entrant", "Evaluation", "Plan", "evaluate"),
    "evaluation.scores": ("HitScore", "Outcome", "SpeedupScore"),
    "examples": ("Example", "Predictor"),
    "launch.model": ("LaunchModel",),
    "launch.prediction": ("LaunchPrediction",),
    "launch.storage": ("load_launch",),
}

__getattr__, __dir__ = lazy_names(
    __name__, {name: f"{__name__}.{module}" for module, names in _NAMES_IN.items() for name in names}
)
