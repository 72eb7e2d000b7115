"""The predictors of a kernel's best coarsening factor on a device.

`default` is the model of all devices, `cascade` the published one of each device; `evaluation` compares them.
Prediction needs NumPy alone. Names are loaded when first used, and so are scikit-learn and torch, which training
and evaluation need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coarsen.lazy_names import lazy_names

if TYPE_CHECKING:
    from coarsen.models.best_factors import PUBLISHED
    from coarsen.models.cascade.model import CascadeModel, Contribution, Prediction, Step
    from coarsen.models.cascade.storage import available_models, load_model
    from coarsen.models.default.model import DefaultModel
    from coarsen.models.default.prediction import CurvePrediction, FactorPrediction, Influence
    from coarsen.models.default.storage import load_default
    from coarsen.models.default.training_to_folder import train_default
    from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS, DeviceDescriptor
    from coarsen.models.evaluation.calibration import Calibration, calibrations
    from coarsen.models.evaluation.entrants import ENTRANTS, Entrant
    from coarsen.models.evaluation.evaluation import Evaluation, Plan, evaluate
    from coarsen.models.evaluation.method import Choice
    from coarsen.models.evaluation.outcome import Outcome
    from coarsen.models.evaluation.scores import HitScore, SpeedupScore
    from coarsen.models.examples import Example

__all__ = [
    "DEVICE_DESCRIPTORS",
    "ENTRANTS",
    "PUBLISHED",
    "Calibration",
    "CascadeModel",
    "Choice",
    "Contribution",
    "CurvePrediction",
    "DefaultModel",
    "DeviceDescriptor",
    "Entrant",
    "Evaluation",
    "Example",
    "FactorPrediction",
    "HitScore",
    "Influence",
    "Outcome",
    "Plan",
    "Prediction",
    "SpeedupScore",
    "Step",
    "available_models",
    "calibrations",
    "evaluate",
    "load_default",
    "load_model",
    "train_default",
]

_MODULE_OF = {
    "DEVICE_DESCRIPTORS": "device_descriptors",
    "ENTRANTS": "evaluation.entrants",
    "PUBLISHED": "best_factors",
    "Calibration": "evaluation.calibration",
    "CascadeModel": "cascade.model",
    "Choice": "evaluation.method",
    "Contribution": "cascade.model",
    "CurvePrediction": "default.prediction",
    "DefaultModel": "default.model",
    "DeviceDescriptor": "device_descriptors",
    "Entrant": "evaluation.entrants",
    "Evaluation": "evaluation.evaluation",
    "Example": "examples",
    "FactorPrediction": "default.prediction",
    "HitScore": "evaluation.scores",
    "Influence": "default.prediction",
    "Outcome": "evaluation.outcome",
    "Plan": "evaluation.evaluation",
    "Prediction": "cascade.model",
    "SpeedupScore": "evaluation.scores",
    "Step": "cascade.model",
    "available_models": "cascade.storage",
    "calibrations": "evaluation.calibration",
    "evaluate": "evaluation.evaluation",
    "load_default": "default.storage",
    "load_model": "cascade.storage",
    "train_default": "default.training_to_folder",
}

__getattr__, __dir__ = lazy_names(__name__, {name: f"{__name__}.{module}" for name, module in _MODULE_OF.items()})
