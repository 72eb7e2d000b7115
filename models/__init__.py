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
    from coarsen.models.best_factors import PUBLISHED
    from coarsen.models.cascade.model import CascadeModel, Contribution, Prediction, Step
    from coarsen.models.cascade.storage import available_models, load_model
    from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS, DeviceDescriptor
    from coarsen.models.evaluation.entrants import ENTRANTS, Entrant
    from coarsen.models.evaluation.evaluation import Evaluation, Plan, evaluate
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

_MODULE_OF = {
    "DEVICE_DESCRIPTORS": "device_descriptors",
    "ENTRANTS": "evaluation.entrants",
    "PUBLISHED": "best_factors",
    "CascadeModel": "cascade.model",
    "Contribution": "cascade.model",
    "DeviceDescriptor": "device_descriptors",
    "Entrant": "evaluation.entrants",
    "Evaluation": "evaluation.evaluation",
    "Example": "examples",
    "HitScore": "evaluation.scores",
    "LaunchModel": "launch.model",
    "LaunchPrediction": "launch.prediction",
    "Outcome": "evaluation.scores",
    "Plan": "evaluation.evaluation",
    "Prediction": "cascade.model",
    "Predictor": "examples",
    "SpeedupScore": "evaluation.scores",
    "Step": "cascade.model",
    "available_models": "cascade.storage",
    "evaluate": "evaluation.evaluation",
    "load_launch": "launch.storage",
    "load_model": "cascade.storage",
}

__getattr__, __dir__ = lazy_names(__name__, {name: f"{__name__}.{module}" for name, module in _MODULE_OF.items()})
