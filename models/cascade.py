"""The cascade (Magni, Dubach, O'Boyle, PACT 2014, section 6): at each factor, coarsen further or stop.

1 ──yes──▶ 2 ──yes──▶ 4 ──yes──▶ 8 ──yes──▶ 16 ──yes──▶ 32
no         no         no         no         no
▼          ▼          ▼          ▼          ▼
1          2          4          8          16
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from coarsen.features import FEATURES, FeatureTable

from .inference import StepModel
from .step_inputs import Array, inputs_of_feature, step_inputs

THRESHOLD = 0.5


@dataclass(frozen=True, slots=True)
class Contribution:
    """How a feature moved a step's answer.

    `value` is the feature at the step's factor; `effect` the probability minus what it would be if the
    feature and its delta had their mean over the training kernels.
    """

    feature: str
    value: float
    effect: float


@dataclass(frozen=True, slots=True)
class Step:
    """The answer at one factor; `contributions` from the strongest on, none where the answer is constant."""

    factor: int
    probability: float
    coarsen_further: bool
    examples: int
    contributions: tuple[Contribution, ...]


@dataclass(frozen=True, slots=True)
class Prediction:
    """The factor that a model chooses, and the steps that led there; the last says no, or stands at 16."""

    model: str
    factor: int
    steps: tuple[Step, ...]

    def reasons(self, count: int = 3) -> tuple[Contribution, ...]:
        """What moved the last answer most."""
        return self.steps[-1].contributions[:count]


@dataclass(frozen=True)
class CascadeModel:
    """A device's model: one `StepModel` per factor 1, 2, 4, 8, 16, for one coarsened dimension.

    `card` is the model card as it is stored.
    """

    name: str
    dimension: int
    steps: tuple[StepModel, ...]
    card: Mapping[str, object] = field(default_factory=dict, compare=False)

    def predict(self, table: FeatureTable) -> Prediction:
        """The factor for a kernel.

        Args:
            table: the kernel's features at the factors 1 to 32, along whichever dimension is to be coarsened.

        Raises:
            InvalidInputError: the table lacks a factor that is needed.
        """
        answers: list[Step] = []
        factor = 1
        for step in self.steps:
            answers.append(_answer(step, table))
            if not answers[-1].coarsen_further:
                break
            factor = 2 * step.factor
        return Prediction(self.name, factor, tuple(answers))


def _answer(step: StepModel, table: FeatureTable) -> Step:
    inputs = step_inputs(table, step.factor)
    probability = step.probability(inputs)
    contributions = () if step.is_constant else _contributions(step, inputs, probability)
    return Step(step.factor, probability, probability > THRESHOLD, step.examples, contributions)


def _contributions(step: StepModel, inputs: Array, probability: float) -> tuple[Contribution, ...]:
    found = [
        Contribution(
            feature.name, float(inputs[index]), probability - step.without(inputs, inputs_of_feature(index))
        )
        for index, feature in enumerate(FEATURES)
    ]
    return tuple(sorted(found, key=lambda contribution: -abs(contribution.effect)))
