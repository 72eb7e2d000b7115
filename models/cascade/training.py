"""Fitting cascades: one set of components for all steps, and a network for each step that has enough to learn.

examples ─▶ inputs of all steps ─▶ VarimaxComponents ─┐
         └▶ samples of each step ─────────────────────┴▶ CascadeStepClassifier ─▶ CascadeModel

The components are fitted on the training kernels' inputs at every factor, since the paper shows one set of
loadings for the whole cascade (figure 9); they need no targets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sklearn.frozen import FrozenEstimator

from coarsen.errors import InvalidInputError
from coarsen.models.cascade.model import CascadeModel
from coarsen.models.cascade.network import StepModel
from coarsen.models.cascade.step_classifier import CascadeStepClassifier, StepFit, fit_together
from coarsen.models.cascade.step_inputs import STEP_FACTORS
from coarsen.models.cascade.step_samples import StepSamples, all_inputs, step_samples
from coarsen.models.cascade.varimax_components import VarimaxComponents
from coarsen.models.evaluation.method import Fit
from coarsen.models.examples import Example
from coarsen.models.judge import refuse_judge

# Fewer examples than this, or all of one kind, and a step's answer is constant.
FEWEST_EXAMPLES = 4


@dataclass(frozen=True)
class _Known:
    """What a set of examples says: the fitted components, and the samples of each step."""

    place: tuple[str, int]
    components: VarimaxComponents
    steps: tuple[StepSamples, ...]


def fit_cascade(examples: Sequence[Example], seed: int) -> CascadeModel:
    """Fit one cascade; see `fit_cascades`."""
    return fit_cascades([Fit(tuple(examples), seed)])[0]


def fit_cascades(fits: Sequence[Fit]) -> list[CascadeModel]:
    """Fit one cascade for each of several sets of examples; all networks are trained as one batch.

    Args:
        fits: each with the examples of one device along one dimension, at least two, and the seed of the networks'
            first weights.

    Raises:
        InvalidInputError: examples of several devices or dimensions, fewer than two, or one of the second judge.
    """
    refuse_judge(example.kernel for fit in fits for example in fit.training)
    known = _known(fits)
    steps = [
        [_step_fit(samples, each.components, fit.seed) for samples in each.steps]
        for fit, each in zip(fits, known, strict=True)
    ]
    fit_together([fit for cascade in steps for fit in cascade if fit is not None])
    return [_model(each, cascade) for each, cascade in zip(known, steps, strict=True)]


def _known(fits: Sequence[Fit]) -> list[_Known]:
    """What each fit's examples say; found out once where the same come again with another seed."""
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
    steps = tuple(step_samples(examples, factor) for factor in STEP_FACTORS)
    return _Known(places.pop(), VarimaxComponents().fit(all_inputs(examples)), steps)


def _step_fit(samples: StepSamples, components: VarimaxComponents, seed: int) -> StepFit | None:
    """The network that is to be trained; None where the answer is constant."""
    further = samples.further
    if len(further) < FEWEST_EXAMPLES or further.all() or not further.any():
        return None
    classifier = CascadeStepClassifier(FrozenEstimator(components), random_state=seed)
    return StepFit(classifier, samples.inputs, further)


def _model(known: _Known, fits: Sequence[StepFit | None]) -> CascadeModel:
    steps = [
        StepModel(
            samples.factor,
            len(samples.further),
            int(samples.further.sum()),
            None if fit is None else fit.classifier.network_,
        )
        for samples, fit in zip(known.steps, fits, strict=True)
    ]
    return CascadeModel(*known.place, known.components.projection_, tuple(steps))
