"""How good the model is on its own training kernels, each predicted by the trees that never saw its family.

It is what leaving each family out would say, at the price of one fit, with two differences: a third of the trees
answer, and the error's distribution was fitted on these very errors. Nothing abstains, and a factor that could not
run is not chosen.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from coarsen.models.default.inputs import COARSENED, Array
from coarsen.models.default.model import DefaultModel
from coarsen.models.default.training import Fitted
from coarsen.models.default.training_rows import Curve, descriptor_of
from coarsen.models.evaluation.calibration import Calibration, calibration, forecasts
from coarsen.models.evaluation.method import Choice
from coarsen.models.evaluation.outcome import Outcome
from coarsen.models.evaluation.scores import SpeedupScore, speedup_score

# A device and a dimension.
Place = tuple[str, int]


def out_of_bag_outcomes(fitted: Fitted) -> tuple[Outcome, ...]:
    """Return what the model would have chosen for each training curve, and what would have come of it."""
    found = zip(fitted.rows.curves, fitted.mean, fitted.between, strict=True)
    return tuple(
        Outcome(curve.example, 0, _choice(fitted.model, curve, mean, between))
        for curve, mean, between in found
        if np.isfinite(mean[np.isfinite(curve.observed)]).all()
    )


def out_of_bag_scores(outcomes: tuple[Outcome, ...]) -> Mapping[Place, SpeedupScore]:
    """Return the score on each device along each dimension."""
    places = sorted({_place(outcome) for outcome in outcomes})
    return {
        place: speedup_score([outcome for outcome in outcomes if _place(outcome) == place], {}) for place in places
    }


def out_of_bag_calibration(outcomes: tuple[Outcome, ...]) -> Calibration | None:
    """Return how well the probabilities that a step helps are calibrated."""
    return calibration(forecasts(outcomes))


def out_of_bag_card(outcomes: tuple[Outcome, ...]) -> Mapping[str, object]:
    """Scores and calibration as a model card has them."""
    found = out_of_bag_calibration(outcomes)
    return {
        "scores": [
            {"device": device, "dimension": dimension, **_score_card(score)}
            for (device, dimension), score in out_of_bag_scores(outcomes).items()
        ],
        "expected_calibration_error": round(found.expected_calibration_error, 4) if found else None,
        "brier": round(found.brier, 4) if found else None,
    }


def _choice(model: DefaultModel, curve: Curve, mean: Array, between: Array) -> Choice:
    known = np.isfinite(curve.observed)
    measured = tuple(factor for factor, is_known in zip(COARSENED, known, strict=True) if is_known)
    device = descriptor_of(curve.example.device)
    filled = model.errors.distribution(np.where(known, mean, 0.0), np.where(known, between, 0.0), device)
    distribution = filled.limited_to(measured)
    chances = {step: model.steps.probability(distribution, step) for step in distribution.steps()}
    return Choice(distribution.best(), step_probability=chances)


def _place(outcome: Outcome) -> Place:
    return outcome.example.device, outcome.example.dimension


def _score_card(score: SpeedupScore) -> Mapping[str, object]:
    return {
        "cases": score.cases,
        "geometric_mean": round(score.geometric_mean, 4),
        "share_of_oracle": round(score.share_of_oracle, 4),
        "worst": round(score.worst, 4),
        "losses": score.losses,
    }
