"""A device's model as it is stored: fitted on all of its kernels, with its leave-one-out evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coarsen.features import FACTORS, FEATURE_SET_VERSION, FEATURES
from coarsen.models.cascade.model import (
    FORMAT_VERSION,
    NETWORKS,
    SHIPPED,
    TRANSFORMS,
    CascadeModel,
    StepModel,
    component_labels,
    tensors_of,
)
from coarsen.models.cascade.training import (
    FEWEST_EXAMPLES,
    HIDDEN_UNITS,
    ITERATIONS,
    LEARNING_RATE,
    VARIANCE,
    WEIGHT_DECAY,
    Progress,
    fit_cascade,
    unobserved,
)
from coarsen.models.device_descriptors import CITATION, DEVICE_DESCRIPTORS
from coarsen.models.evaluation.evaluation import Evaluation, Plan, cascade_entrants, evaluate
from coarsen.models.evaluation.scores import HitScore
from coarsen.models.examples import Example
from coarsen.models.model_files import write_model

# The cascade, and what to compare it with.
METHODS = ("cascade", "cautious", "unique", "never", "published")
EVALUATION_SEEDS = 20


@dataclass(frozen=True)
class TrainedModel:
    """A model fitted on all of its device's kernels with one seed, and the evaluation with several.

    `sources` says in words where the examples are from, `measured` how many of them have runtimes.
    """

    model: CascadeModel
    evaluation: Evaluation
    kernels: tuple[str, ...]
    seed: int
    sources: tuple[str, ...]
    measured: int = 0


def train_device(
    examples: Sequence[Example],
    seed: int = 0,
    published: Mapping[str, int] | None = None,
    evaluation_seeds: int = EVALUATION_SEEDS,
    sources: Sequence[str] = (CITATION,),
    progress: Progress = unobserved,
) -> TrainedModel:
    """Train a device's model on all examples, and evaluate the method by leaving one family out.

    Args:
        examples: the kernels of one device along one dimension, of at least two families.
        seed: of the networks' first weights.
        published: the factors that others predicted by kernel, for comparison.
        evaluation_seeds: how many seeds the evaluation is repeated with.
        sources: where the examples are from, in words; those of table 5 if left out.
        progress: told how far the training is, that of the evaluation included.

    Raises:
        InvalidInputError: see `fit_cascades`; a kernel is there twice.
    """
    fitted = fit_cascade(examples, seed, lambda done, total: progress(done, 2 * total))
    identities = {example.table.identity: example.kernel for example in examples}
    model = replace(fitted, kernels={identity: kernel for identity, kernel in identities.items() if identity})
    methods = METHODS if published else METHODS[:-1]
    factors = {(kernel, model.name): factor for kernel, factor in (published or {}).items()}
    held_out = cascade_entrants(lambda done, total: progress(total + done, 2 * total))
    plan = Plan(methods, evaluation_seeds, model.dimension, published=factors, added=held_out)
    kernels = tuple(example.kernel for example in examples)
    measured = sum(bool(example.speedup) for example in examples)
    return TrainedModel(model, evaluate(examples, (), plan), kernels, seed, tuple(sources), measured)


def chosen_factors(evaluation: Evaluation, method: str) -> Mapping[str, Mapping[int, int]]:
    """By kernel: the factors that a method chose with the kernel held out, and with how many seeds each."""
    counts: dict[str, dict[int, int]] = {}
    for outcome in evaluation.outcomes[method]:
        kernel = counts.setdefault(outcome.example.kernel, {})
        kernel[outcome.factor] = kernel.get(outcome.factor, 0) + 1
    return {kernel: dict(sorted(factors.items())) for kernel, factors in counts.items()}


# The model card: what a model is, what it learned from and how well that went, stored beside the numbers.
#
# Nothing in it depends on when or where it was made, so that training again gives the same bytes.

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
    "Leave one kernel out, mt and mtLocal together, with standardisation, components and networks fitted "
    "without it, repeated with several seeds. 'cautious' is the cascade, but 1 where a step's probability "
    "lies between 1/3 and 2/3, 'unique' the most common best factor of the training kernels, 'never' factor "
    "1, 'published' what the table's authors predicted. Scores are kernels per seed, and the mean of |log2 of "
    "predicted by best factor|. 'predicted' holds the factors by kernel, and with how many seeds each."
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
            "hidden_units": HIDDEN_UNITS,
            "iterations": ITERATIONS,
            "learning_rate": LEARNING_RATE,
            "weight_decay": WEIGHT_DECAY,
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
    spread = score.spread
    return {
        "kernels": score.cases,
        "exact": round(score.exact, 4),
        "within_one_doubling": round(score.within_one_doubling, 4),
        "mean_absolute_log2_error": round(score.mean_error, 4),
        "over_seeds": None if spread is None else [round(spread.low, 4), round(spread.high, 4)],
    }


def save_model(trained: TrainedModel, folder: Path = SHIPPED) -> tuple[Path, Path]:
    """Write a model's two files, and say where.

    Raises:
        InvalidInputError: the folder can't be written.
    """
    numbers = tensors_of(trained.model)
    return write_model(trained.model.name, folder, numbers, lambda sha256: model_card(trained, sha256))
