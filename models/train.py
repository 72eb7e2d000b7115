"""Training and evaluation of a device's cascade.

tables, best factors ─▶ per step: projection, network ─▶ model
                    └─▶ the same on each fold ─▶ leave-one-out evaluation
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from coarsen.features import FeatureTable

from .cascade import CascadeModel
from .components import fit_projection
from .evaluation import Evaluation, most_common_factor
from .inference import Network, Projection, StepModel
from .network_training import NetworkSettings, Problem, train_networks
from .step_inputs import STEP_FACTORS
from .training_set import DIMENSION, Fold, StepExamples, TrainingSet, training_set

# Fewer examples than this, or all of one kind, and a step's answer is constant.
FEWEST_EXAMPLES = 4


@dataclass(frozen=True)
class TrainedModel:
    """A model fitted on all kernels, its leave-one-out evaluation, and what it was trained with."""

    model: CascadeModel
    evaluation: Evaluation
    kernels: tuple[str, ...]
    seed: int
    settings: NetworkSettings


@dataclass(frozen=True)
class _StepTask:
    """One step of one model, ready to be trained; `problem` is None where its answer is constant."""

    examples: StepExamples
    projection: Projection
    problem: Problem | None


def train_device(
    device: str,
    tables: Mapping[str, FeatureTable],
    best_factors: Mapping[str, int],
    seed: int = 0,
    published_prediction: Mapping[str, int] | None = None,
    settings: NetworkSettings | None = None,
) -> TrainedModel:
    """Train a device's model on all kernels and evaluate the method by leaving one family out.

    Args:
        device: the model's name.
        tables: features by kernel, along dimension 0, at the factors 1 to 32.
        best_factors: the best factor by kernel; kernels without one are not used.
        seed: of the networks' first weights.
        published_prediction: factors that others predicted, for comparison.
        settings: of the networks.

    Raises:
        InvalidInputError: tables and best factors don't fit together.
    """
    settings = settings or NetworkSettings()
    known = training_set(tables, best_factors)
    folds = known.folds()
    models = _fit(device, known, [known.kernels, *(fold.training for fold in folds)], seed, settings)
    evaluation = _evaluate(known, folds, models[1:], published_prediction)
    return TrainedModel(models[0], evaluation, known.kernels, seed, settings)


def _fit(
    name: str, known: TrainingSet, groups: Sequence[Sequence[str]], seed: int, settings: NetworkSettings
) -> list[CascadeModel]:
    """One model per group of kernels; all networks are trained as one batch."""
    tasks = [[_task(known.examples(group, factor), seed) for factor in STEP_FACTORS] for group in groups]
    problems = [task.problem for group in tasks for task in group if task.problem is not None]
    networks = iter(train_networks(problems, settings))
    return [
        CascadeModel(name, DIMENSION, tuple(_step(t, next(networks) if t.problem else None) for t in group))
        for group in tasks
    ]


def _task(examples: StepExamples, seed: int) -> _StepTask:
    """Fit the projection on all training kernels, which needs no targets, and state the network's problem."""
    projection = fit_projection(examples.inputs)
    if len(examples.targets) < FEWEST_EXAMPLES or len(np.unique(examples.targets)) < 2:
        return _StepTask(examples, projection, None)
    decided = examples.inputs[list(examples.decided)]
    projected = projection.project(projection.standardise(decided))
    return _StepTask(examples, projection, Problem(projected, examples.targets, (seed, examples.factor)))


def _step(task: _StepTask, network: Network | None) -> StepModel:
    examples = task.examples
    projection = task.projection if network is not None else None
    further = int(examples.targets.sum())
    return StepModel(examples.factor, len(examples.targets), further, projection, network)


def _evaluate(
    known: TrainingSet,
    folds: Sequence[Fold],
    models: Sequence[CascadeModel],
    published: Mapping[str, int] | None,
) -> Evaluation:
    cascade: dict[str, int] = {}
    unique: dict[str, int] = {}
    for fold, model in zip(folds, models, strict=True):
        common = most_common_factor(known.best[kernel] for kernel in fold.training)
        for kernel in fold.held_out:
            cascade[kernel] = model.predict(known.tables[kernel]).factor
            unique[kernel] = common
    predicted: dict[str, Mapping[str, int]] = {
        "cascade": cascade,
        "unique": unique,
        "never": dict.fromkeys(known.kernels, 1),
    }
    if published is not None:
        predicted["published"] = {kernel: published[kernel] for kernel in known.kernels}
    return Evaluation(known.best, predicted)
