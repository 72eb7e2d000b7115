"""The model card: what a model is, what it learned from and how well that went, stored beside the numbers.

Nothing in it depends on when or where it was made, so that training again gives the same bytes.
"""

from __future__ import annotations

from dataclasses import asdict

from coarsen.features import FACTORS, FEATURE_SET_VERSION, FEATURES

from .best_factors import CITATION, DEVICES
from .components import VARIANCE
from .evaluation import Evaluation
from .inference import StepModel
from .storage import FORMAT_VERSION
from .train import FEWEST_EXAMPLES, TrainedModel

_METHOD = (
    "A cascade of neural networks (Magni, Dubach, O'Boyle, PACT 2014, section 6): at each factor a network "
    "with one hidden layer says whether to coarsen further. It sees the 17 features at that factor and their "
    "relative deltas to the next one, standardised and projected on the principal components. A kernel says "
    "'further' below its best factor and 'stop' at it; steps beyond the best factor are not used. A step "
    f"with fewer examples than {FEWEST_EXAMPLES}, or with examples of one kind only, gives the same answer "
    "for all kernels, with the probability (further + 1) / (examples + 2)."
)
_EVALUATION = (
    "Leave one kernel out, mt and mtLocal together, with standardisation, principal components and networks "
    "fitted without it. 'unique' is the most common best factor of the training kernels, 'never' is factor "
    "1, 'published' what the table's authors predicted."
)


def model_card(trained: TrainedModel, checksum: str) -> dict[str, object]:
    """The card of a trained model; `checksum` is the SHA-256 of the file with its numbers."""
    model = trained.model
    return {
        "format_version": FORMAT_VERSION,
        "name": model.name,
        "device": DEVICES.get(model.name, model.name),
        "method": _METHOD,
        "data": {"best_factors": CITATION, "kernels": list(trained.kernels)},
        "dimension": model.dimension,
        "factors": list(FACTORS),
        "feature_set_version": FEATURE_SET_VERSION,
        "features": [feature.name for feature in FEATURES],
        "training": {"seed": trained.seed, "variance_kept": VARIANCE, **asdict(trained.settings)},
        "steps": [_step(step) for step in model.steps],
        "evaluation": _evaluation(trained.evaluation),
        "sha256": checksum,
    }


def _step(step: StepModel) -> dict[str, object]:
    components = 0 if step.projection is None else len(step.projection.components)
    return {
        "factor": step.factor,
        "examples": step.examples,
        "further": step.further,
        "constant": step.is_constant,
        "components": components,
    }


def _evaluation(evaluation: Evaluation) -> dict[str, object]:
    scores = {method: asdict(evaluation.score(method)) for method in evaluation.methods}
    for score in scores.values():
        score["mean_absolute_log2_error"] = round(score["mean_absolute_log2_error"], 4)
    return {
        "method": _EVALUATION,
        "scores": scores,
        "best": dict(evaluation.best),
        "predicted": {method: dict(factors) for method, factors in evaluation.predicted.items()},
    }
