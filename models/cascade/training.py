"""Fitting cascades: one set of components and one network for all steps.

examples ─▶ inputs of all steps ─▶ VarimaxComponents ─┐
         └▶ samples of all steps ────────────────────┴▶ CascadeStepClassifier ─▶ CascadeModel

The components are fitted on the training kernels' inputs at every factor, since the paper shows one set of
loadings for the whole cascade (figure 9); they need no targets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sklearn.frozen import FrozenEstimator

from coarsen.errors import InvalidInputError
from coarsen.models.calibration_set import refuse_calibration
from coarsen.models.cascade.model import CascadeModel
from coarsen.models.cascade.network import StepModel
from coarsen.models.cascade.network_training import Progress, unobserved
from coarsen.models.cascade.step_classifier import CascadeStepClassifier, StepFit, fit_together
from coarsen.models.cascade.step_inputs import STEP_FACTORS
from coarsen.models.cascade.step_samples import StepSamples, step_samples
from coarsen.models.cascade.varimax_components import VarimaxComponents
from coarsen.models.evaluation.method import Fit
from coarsen.models.examples import Example
from coarsen.models.judge import refuse_judge

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
