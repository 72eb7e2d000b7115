"""Fitting cascades: one set of components for all steps, and a network for all of them, or for each.

examples ─▶ inputs of all steps ─▶ VarimaxComponents ─┐
         └▶ samples of each step, or all ─────────────┴▶ CascadeStepClassifier ─▶ CascadeModel

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
from coarsen.models.cascade.settings import PUBLISHED, CascadeSettings, Networks
from coarsen.models.cascade.step_classifier import CascadeStepClassifier, StepFit, fit_together
from coarsen.models.cascade.step_inputs import STEP_FACTORS
from coarsen.models.cascade.step_samples import StepSamples, all_inputs, repeated_samples, step_samples
from coarsen.models.cascade.varimax_components import VarimaxComponents
from coarsen.models.evaluation.method import Fit
from coarsen.models.examples import Example
from coarsen.models.judge import refuse_judge

# Fewer examples than this, or all of one kind, and a step's answer is constant.
FEWEST_EXAMPLES = 4


@dataclass(frozen=True)
class _Known:
    """What a set of examples says: the fitted components, and the samples of each network that there is to be."""

    place: tuple[str, int]
    components: VarimaxComponents
    samples: tuple[StepSamples, ...]


def fit_cascade(
    examples: Sequence[Example],
    seed: int,
    settings: CascadeSettings = PUBLISHED,
    progress: Progress = unobserved,
) -> CascadeModel:
    """Fit one cascade; see `fit_cascades`."""
    return fit_cascades([Fit(tuple(examples), seed)], settings, progress)[0]


def fit_cascades(
    fits: Sequence[Fit], settings: CascadeSettings = PUBLISHED, progress: Progress = unobserved
) -> list[CascadeModel]:
    """Fit one cascade for each of several sets of examples; all networks are trained as one batch.

    Args:
        fits: each with the examples of one device along one dimension, at least two, and the seed of the networks'
            first weights.
        settings: of all of them.
        progress: told how far the training is.

    Raises:
        InvalidInputError: examples of several devices or dimensions, fewer than two, or one of the second judge.
    """
    refuse_judge(example.kernel for fit in fits for example in fit.training)
    refuse_calibration(example.kernel for fit in fits for example in fit.training)
    known = _known(fits, settings)
    networks = [
        [_step_fit(samples, each.components, fit.seed) for samples in each.samples]
        for fit, each in zip(fits, known, strict=True)
    ]
    fit_together([fit for cascade in networks for fit in cascade if fit is not None], progress)
    return [_model(each, cascade, settings) for each, cascade in zip(known, networks, strict=True)]


def _known(fits: Sequence[Fit], settings: CascadeSettings) -> list[_Known]:
    """Return what each fit's examples say; found out once where the same come again with another seed."""
    found: dict[tuple[int, ...], _Known] = {}
    keys = [tuple(map(id, fit.training)) for fit in fits]
    for key, fit in zip(keys, fits, strict=True):
        if key not in found:
            found[key] = _known_from(fit.training, settings)
    return [found[key] for key in keys]


def _known_from(examples: Sequence[Example], settings: CascadeSettings) -> _Known:
    if len(examples) < 2:
        raise InvalidInputError("a cascade needs at least two kernels to learn from")
    places = {(example.device, example.dimension) for example in examples}
    if len(places) > 1:
        raise InvalidInputError("a cascade learns from the kernels of one device, along one dimension")
    version = settings.feature_set
    if settings.networks is Networks.ONE:
        samples: tuple[StepSamples, ...] = (repeated_samples(examples, version),)
    else:
        samples = tuple(step_samples(examples, factor, version) for factor in STEP_FACTORS)
    components = VarimaxComponents(count=settings.components).fit(all_inputs(examples, version))
    return _Known(places.pop(), components, samples)


def _step_fit(samples: StepSamples, components: VarimaxComponents, seed: int) -> StepFit | None:
    """The network that is to be trained; None where the answer is constant."""
    further = samples.further
    if len(further) < FEWEST_EXAMPLES or further.all() or not further.any():
        return None
    classifier = CascadeStepClassifier(FrozenEstimator(components), random_state=seed)
    return StepFit(classifier, samples.inputs, further)


def _model(known: _Known, fits: Sequence[StepFit | None], settings: CascadeSettings) -> CascadeModel:
    steps = [
        StepModel(
            factor,
            len(samples.further),
            int(samples.further.sum()),
            None if fit is None else fit.classifier.network_,
        )
        for samples, fit in zip(known.samples, fits, strict=True)
        for factor in (STEP_FACTORS if samples.factor is None else (samples.factor,))
    ]
    return CascadeModel(*known.place, known.components.projection_, tuple(steps), settings=settings)
