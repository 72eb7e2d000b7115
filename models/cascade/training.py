"""Fitting cascades: one set of components and one network for all steps.

examples ─▶ inputs of all steps ─▶ VarimaxComponents ─┐
         └▶ samples of all steps ────────────────────┴▶ CascadeStepClassifier ─▶ CascadeModel

The components are fitted on the training kernels' inputs at every factor, since the paper shows one set of
loadings for the whole cascade (figure 9); they need no targets.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator

from coarsen.errors import InvalidInputError
from coarsen.models.cascade.model import STEP_FACTORS, Array, CascadeModel, StepModel, step_inputs
from coarsen.models.cascade.step_classifier import (
    CascadeStepClassifier,
    Progress,
    StepFit,
    fit_together,
    unobserved,
)
from coarsen.models.cascade.varimax_components import VarimaxComponents
from coarsen.models.evaluation.method import Choice, Fit
from coarsen.models.examples import Example
from coarsen.models.held_out import refuse_calibration, refuse_judge

# Fewer examples than this, or all of one kind, and a step's answer is constant.
FEWEST_EXAMPLES = 4


@dataclass(frozen=True)
class _Known:
    """What a set of examples says: the fitted components, and the samples of the network."""

    place: tuple[str, int]
    components: VarimaxComponents
    samples: StepSamples


def fit_cascade(examples: Sequence[Example], seed: int, progress: Progress = unobserved) -> CascadeModel:
    """Fit one cascade; see `fit_cascades`."""
    return fit_cascades([Fit(tuple(examples), seed)], progress)[0]


def fit_cascades(fits: Sequence[Fit], progress: Progress = unobserved) -> list[CascadeModel]:
    """Fit one cascade for each of several sets of examples; all networks are trained as one batch.

    Args:
        fits: each with the examples of one device along one dimension, at least two, and the seed of the networks'
            first weights.
        progress: told how far the training is.

    Raises:
        InvalidInputError: examples of several devices or dimensions, fewer than two, or one of the second judge.
    """
    refuse_judge(example.kernel for fit in fits for example in fit.training)
    refuse_calibration(example.kernel for fit in fits for example in fit.training)
    known = _known(fits)
    networks = [_step_fit(each, fit.seed) for fit, each in zip(fits, known, strict=True)]
    fit_together([fit for fit in networks if fit is not None], progress)
    return [_model(each, fit) for each, fit in zip(known, networks, strict=True)]


def _known(fits: Sequence[Fit]) -> list[_Known]:
    """Return what each fit's examples say; found out once where the same come again with another seed."""
    found: dict[tuple[int, ...], _Known] = {}
    keys = [tuple(map(id, fit.training)) for fit in fits]
    for key, fit in zip(keys, fits, strict=True):
        if key not in found:
            found[key] = _known_from(fit.training)
    return [found[key] for key in keys]


def _known_from(examples: Sequence[Example]) -> _Known:
    if len(examples) < 2:
        raise InvalidInputError("a cascade needs at least two kernels to learn from")
    places = {(example.device, example.dimension) for example in examples}
    if len(places) > 1:
        raise InvalidInputError("a cascade learns from the kernels of one device, along one dimension")
    samples = step_samples(examples)
    return _Known(places.pop(), VarimaxComponents().fit(samples.inputs), samples)


def _step_fit(known: _Known, seed: int) -> StepFit | None:
    """The network that is to be trained; None where the answer is constant."""
    further = known.samples.further
    if len(further) < FEWEST_EXAMPLES or further.all() or not further.any():
        return None
    classifier = CascadeStepClassifier(FrozenEstimator(known.components), random_state=seed)
    return StepFit(classifier, known.samples.inputs, further)


def _model(known: _Known, fit: StepFit | None) -> CascadeModel:
    further = known.samples.further
    network = None if fit is None else fit.classifier.network_
    steps = tuple(StepModel(factor, len(further), int(further.sum()), network) for factor in STEP_FACTORS)
    return CascadeModel(*known.place, known.components.projection_, steps)


# From examples to what the network of the cascade learns from.
#
# The question at factor f (PACT 2014, section 6): does the next step, to 2f, help? One network is asked at every
# factor. It learns from five samples of each kernel: further below the best factor, stop at it and beyond it.


@dataclass(frozen=True)
class StepSamples:
    """The samples of all steps: `inputs` (n, 34), and `further` (n,), whether a larger factor is best."""

    inputs: Array
    further: NDArray[np.bool_]


def step_samples(examples: Sequence[Example]) -> StepSamples:
    """Return five samples of each example. Raises InvalidInputError where a table lacks a factor."""
    answers = [factor < example.best_factor for example in examples for factor in STEP_FACTORS]
    return StepSamples(all_inputs(examples), np.array(answers, dtype=bool))


def all_inputs(examples: Sequence[Example]) -> Array:
    """Return the inputs of every step of every example, of shape (5 examples, 34). Raises as `step_samples`."""
    return np.stack([step_inputs(example.table, factor) for example in examples for factor in STEP_FACTORS])


# The cascade as a method of the evaluation: a model per device and dimension, learned from its examples alone.

# A device and a dimension.
Place = tuple[str, int]


class Cascade:
    """The published predictor (PACT 2014, section 6).

    It knows nothing of other devices: where it has fewer than `FEWEST_EXAMPLES` examples of a device along the
    dimension in question, it stays at factor 1.

    Args:
        progress: told how far the training of all networks is.
    """

    name = "cascade"

    def __init__(self, progress: Progress = unobserved) -> None:
        self._progress = progress

    def fit(self, training: Sequence[Example], seed: int) -> CascadePredictor:
        """Learn from examples of any devices, each device on its own."""
        return self.fit_many([Fit(tuple(training), seed)])[0]

    def fit_many(self, fits: Sequence[Fit]) -> list[CascadePredictor]:
        """Return the predictors of several fits, with all networks trained as one batch."""
        groups = [_by_place(fit.training) for fit in fits]
        wanted = [
            Fit(examples, fit.seed) for fit, group in zip(fits, groups, strict=True) for examples in group.values()
        ]
        models = iter(fit_cascades(wanted, self._progress))
        return [CascadePredictor({place: next(models) for place in group}) for group in groups]


@dataclass(frozen=True)
class CascadePredictor:
    """A cascade for each device and dimension."""

    models: Mapping[Place, CascadeModel]

    def choose(self, example: Example) -> Choice:
        """Return the factor at which the cascade of the example's device stops."""
        model = self.models.get((example.device, example.dimension))
        if model is None:
            return Choice(1)
        return Choice(
            model.predict(example.table).factor, step_probability=model.step_probabilities(example.table)
        )


def _by_place(examples: Sequence[Example]) -> dict[Place, tuple[Example, ...]]:
    """The examples that each model learns from, where there are enough."""
    groups: defaultdict[Place, list[Example]] = defaultdict(list)
    for example in examples:
        groups[example.device, example.dimension].append(example)
    return {place: tuple(group) for place, group in groups.items() if len(group) >= FEWEST_EXAMPLES}
