"""The model card: what a model is, what it learned from and how well that went, stored beside the numbers.

Nothing in it depends on when or where it was made, so that training again gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from coarsen.features import FACTORS, FEATURE_SET_VERSION, FEATURES
from coarsen.models.cascade.labels import component_labels
from coarsen.models.cascade.model import CascadeModel
from coarsen.models.cascade.network import StepModel
from coarsen.models.cascade.network_training import NetworkSettings
from coarsen.models.cascade.storage import FORMAT_VERSION, NETWORKS
from coarsen.models.cascade.trained import TrainedModel, chosen_factors
from coarsen.models.cascade.training import FEWEST_EXAMPLES
from coarsen.models.cascade.varimax_components import VARIANCE
from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS
from coarsen.models.evaluation.evaluation import Evaluation
from coarsen.models.evaluation.scores import HitScore
from coarsen.models.model_files import TRANSFORMS

# When the method was last changed; not when a model was made, which would make two trainings differ.
_METHOD_DATE = "2026-11-22"
_METHOD = (
    "A cascade (Magni, Dubach, O'Boyle, PACT 2014, section 6): at each factor a neural network with one hidden "
    "layer says whether to coarsen further. It sees the 17 features at that factor and their relative deltas to "
    "the next one, standardised and projected on varimax-rotated principal components, one set for all steps. "
    "One network is asked at every factor. It learns from five samples of each kernel: 'further' at the factors "
    "below its best one, 'stop' at it and beyond. "
    f"A network with fewer examples than {FEWEST_EXAMPLES}, or with examples of one kind only, is none: it gives "
    "the same answer for all kernels, with the probability (further + 1) / (examples + 2)."
)
_EVALUATION = (
    "Leave one kernel out, mt and mtLocal together, with standardisation, components and networks fitted without "
    "it, repeated with several seeds. 'unique' is the most common best factor of the training kernels, 'never' is "
    "factor 1, 'published' what the table's authors predicted. Scores are kernels per seed, and the mean of "
    "|log2 of predicted by best factor|. 'predicted' holds the factors by kernel, and with how many seeds each."
)


def model_card(trained: TrainedModel, checksum: str) -> dict[str, object]:
    """Return the card of a trained model; `checksum` is the SHA-256 of the file with its numbers."""
    model = trained.model
    return {
        "format_version": FORMAT_VERSION,
        "name": model.name,
        "device": device_name(model.name),
        "method": _METHOD,
        "method_date": _METHOD_DATE,
        "data": {
            "sources": list(trained.sources),
            "with_runtimes": trained.measured,
            "kernels": list(trained.kernels),
            "identities": {kernel: identity for identity, kernel in model.kernels.items()},
        },
        "transforms": TRANSFORMS,
        "dimension": model.dimension,
        "factors": list(FACTORS),
        "feature_set_version": FEATURE_SET_VERSION,
        "features": [feature.name for feature in FEATURES],
        "networks": NETWORKS,
        "training": {
            "seed": trained.seed,
            "variance_kept": VARIANCE,
            "components": None,
            **asdict(NetworkSettings()),
        },
        "components": _components(model),
        "steps": [_step(step) for step in model.steps],
        "evaluation": evaluation_card(trained.evaluation, model.name),
        "sha256": checksum,
    }


def device_name(name: str) -> str:
    """Return what the device of a cascade is called in full; its own name where nothing else is known."""
    return DEVICE_DESCRIPTORS[name].full_name if name in DEVICE_DESCRIPTORS else name


def _components(model: CascadeModel) -> list[dict[str, object]]:
    labels, shares = component_labels(model.projection.loadings), model.projection.shares
    return [
        {"label": label, "share_of_variance": round(float(share), 4)}
        for label, share in zip(labels, shares, strict=True)
    ]


def _step(step: StepModel) -> dict[str, object]:
    return {
        "factor": step.factor,
        "examples": step.examples,
        "further": step.further,
        "constant": step.is_constant,
    }


def evaluation_card(evaluation: Evaluation, device: str) -> dict[str, object]:
    """Return how well the method did on a device, each kernel held out, as the card holds it."""
    outcomes = evaluation.on(device)
    return {
        "method": _EVALUATION,
        "seeds": len({outcome.seed for outcome in outcomes["cascade"]}),
        "scores": {name: _score(score) for name, score in evaluation.hit_scores(device).items()},
        "best": {outcome.example.kernel: outcome.example.best_factor for outcome in outcomes["never"]},
        "predicted": {name: chosen_factors(evaluation, name) for name in outcomes},
    }


def _score(score: HitScore) -> Mapping[str, object]:
    return {
        "kernels": score.cases,
        "exact": round(score.exact, 4),
        "within_one_doubling": round(score.within_one_doubling, 4),
        "mean_absolute_log2_error": round(score.mean_error, 4),
        "over_seeds": None if score.spread is None else _rounded((score.spread.low, score.spread.high)),
    }


def _rounded(values: Sequence[float]) -> list[float]:
    return [round(value, 4) for value in values]
