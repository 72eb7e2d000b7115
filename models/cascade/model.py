"""The cascade (Magni, Dubach, O'Boyle, PACT 2014, section 6): at each factor, coarsen further or stop.

1 ──yes──▶ 2 ──yes──▶ 4 ──yes──▶ 8 ──yes──▶ 16 ──yes──▶ 32
no         no         no         no         no
▼          ▼          ▼          ▼          ▼
1          2          4          8          16
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coarsen.errors import InvalidInputError
from coarsen.features import FACTORS, FEATURE_SET_VERSION, FEATURES, FeatureTable
from coarsen.models.launch import NAME as LAUNCH
from coarsen.models.model_files import (
    LARGEST,
    SMALLEST,
    Card,
    Tensors,
    check_format,
    checked_tensor,
    model_names,
    read_card,
    read_tensors,
)

THRESHOLD = 0.5

# A step with a probability between these is doubtful: either answer is less than twice as likely as the other.
DOUBTFUL = (1 / 3, 2 / 3)


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
    """The answer at one factor.

    Args:
        factor: at which the cascade asks whether to coarsen further.
        probability: that the double of it is faster.
        coarsen_further: the answer.
        examples: how many samples the answer was learned from: a training kernel gives one at each factor.
        contributions: of the features, from the strongest on; none where the answer is constant.
    """

    factor: int
    probability: float
    coarsen_further: bool
    examples: int
    contributions: tuple[Contribution, ...]

    @property
    def is_doubtful(self) -> bool:
        """Return True if the two answers are nearly as likely."""
        low, high = DOUBTFUL
        return low < self.probability < high


@dataclass(frozen=True, slots=True, repr=False)
class Prediction:
    """The factor that a model chooses, and how it came to it. `str` has the steps, `repr` the choice alone.

    Args:
        model: the model's name.
        factor: where the steps stop; 1 leaves the kernel as it is.
        steps: those that led there; the last says no, or stands at 16.
        training_kernel: the kernel that this one is, of those that the model learned from; None if it is none of
            them. What a model says of such a kernel is what it was told.
    """

    model: str
    factor: int
    steps: tuple[Step, ...]
    training_kernel: str | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: factor {self.factor} by the cascade of {self.model}>"

    def __str__(self) -> str:
        lines = [f"factor {self.factor} by the cascade of {self.model}", "factor  next helps  answer"]
        for step in self.steps:
            answer = "coarsen further" if step.coarsen_further else "stop"
            lines.append(f"{step.factor:6}  {step.probability:10.0%}  {answer}")
        return "\n".join(lines)

    @property
    def doubtful(self) -> Step | None:
        """Return the first step whose answer is doubtful; None where there is none."""
        return next((step for step in self.steps if step.is_doubtful), None)

    def cautiously(self) -> Prediction:
        """Return the same steps with the factor 1 if one of them is doubtful."""
        return self if self.doubtful is None else replace(self, factor=1)

    def reasons(self, count: int = 3) -> tuple[Contribution, ...]:
        """Return the features that moved the last answer most.

        Args:
            count: how many, at most.
        """
        return self.steps[-1].contributions[:count]


@dataclass(frozen=True)
class CascadeModel:
    """A device's model: one `StepModel` per factor 1, 2, 4, 8, 16, for one coarsened dimension.

    All steps look at the same components. `card` is the model card as it is stored, `kernels` the names of those
    that it learned from, by their identity (`FeatureTable.identity`).
    """

    name: str
    dimension: int
    projection: Projection
    steps: tuple[StepModel, ...]
    card: Mapping[str, object] = field(default_factory=dict, compare=False)
    kernels: Mapping[str, str] = field(default_factory=dict, compare=False)

    def predict(self, table: FeatureTable) -> Prediction:
        """Return the factor for a kernel.

        Args:
            table: the kernel's features at the factors 1 to 32, along whichever dimension is to be coarsened.

        Returns:
            The factor, 1 to 32, and the steps that led to it.

        Raises:
            InvalidInputError: the table lacks a factor that is needed.
        """
        answers: list[Step] = []
        factor = 1
        for step in self.steps:
            answers.append(self._answer(step, table))
            if not answers[-1].coarsen_further:
                break
            factor = 2 * step.factor
        return Prediction(self.name, factor, tuple(answers), self.kernels.get(table.identity))

    def _answer(self, step: StepModel, table: FeatureTable) -> Step:
        probability = self._probability(step, self._standardised(step, table))
        contributions = () if step.is_constant else self._contributions(step, table, probability)
        return Step(step.factor, probability, probability > THRESHOLD, step.examples, contributions)

    def _contributions(self, step: StepModel, table: FeatureTable, probability: float) -> tuple[Contribution, ...]:
        values = table.at(step.factor).by_name()
        standardised = self._standardised(step, table)
        found = []
        for index, feature in enumerate(FEATURES):
            average = standardised.copy()
            average[[index, index + len(FEATURES)]] = 0.0  # the feature and its delta
            effect = probability - self._probability(step, average)
            found.append(Contribution(feature.name, values[feature.name], effect))
        return tuple(sorted(found, key=lambda contribution: -abs(contribution.effect)))

    def _standardised(self, step: StepModel, table: FeatureTable) -> Array:
        return self.projection.standardise(step_inputs(table, step.factor))

    def _probability(self, step: StepModel, standardised: Array) -> float:
        return step.probability(self.projection.scores(standardised))


# What a network of the cascade sees at one factor: the features there, and how the next step changes them.
#
# Magni, Dubach and O'Boyle (PACT 2014), section 6, take the features and their relative deltas as candidates.

Array = NDArray[np.float64]

STEP_FACTORS = FACTORS[:-1]
INPUT_COUNT = 2 * len(FEATURES)


def step_inputs(table: FeatureTable, factor: int) -> Array:
    """Return the inputs of the step from `factor` to twice that, (34,): 17 features, then their 17 deltas.

    Raises:
        InvalidInputError: the table lacks one of the two factors.
    """
    return np.concatenate([table.at(factor).vector(), table.delta(factor, 2 * factor)])


# The cascade's networks, in NumPy, and a step's answer.
#
# Notation: c components, h hidden units.
#
#     a = tanh(W s + b)                              (h,)
#     probability = 1 / (1 + exp(−(w · a + b₀)))


@dataclass(frozen=True)
class Network:
    """One hidden layer of tanh units and a logistic output.

    `hidden_weights` (h, c), `hidden_biases` (h,), `output_weights` (h,), `output_bias`.
    """

    hidden_weights: Array
    hidden_biases: Array
    output_weights: Array
    output_bias: float

    def probability(self, scores: Array) -> Array:
        """Return the probabilities (…) that coarsening further helps, for scores (…, c)."""
        hidden = np.tanh(scores @ self.hidden_weights.T + self.hidden_biases)
        logits = hidden @ self.output_weights + self.output_bias
        return np.exp(-np.logaddexp(0.0, -logits))


@dataclass(frozen=True)
class StepModel:
    """The answer to "coarsen further?" at one factor.

    The `network` may be that of all factors: `examples` and `further` count the samples of all of them then.
    `examples` training kernels say something about this factor, `further` of them are better at the next one.
    Where these are too few, or all of one kind, there is no `network`: the answer is then the same for all
    kernels, with the probability (further + 1) / (examples + 2) (Laplace's rule of succession).
    """

    factor: int
    examples: int
    further: int
    network: Network | None = None

    @property
    def is_constant(self) -> bool:
        """Return True if the answer is the same for all kernels."""
        return self.network is None

    def probability(self, scores: Array) -> float:
        """Return the probability that the next factor is better, for a kernel's scores (c,)."""
        if self.network is None:
            return (self.further + 1) / (self.examples + 2)
        return float(self.network.probability(scores))


# Standardisation and rotated principal components, in NumPy: what prediction needs of them.
#
# Notation: i inputs (34), c components.
#
#     z = (x − mean) / scale     (i,)
#     s = z · weights            (c,)   the scores, uncorrelated and of variance 1 over the training kernels


@dataclass(frozen=True)
class Projection:
    """What inputs are projected with.

    `mean` (i,) and `scale` (i,) standardise; `loadings` (i, c) are the correlations of inputs with components;
    `weights` (i, c) give the scores; `shares` (c,) is the part of all variance that each component holds.
    """

    mean: Array
    scale: Array
    loadings: Array
    weights: Array
    shares: Array

    def standardise(self, inputs: Array) -> Array:
        """Inputs of shape (…, i) in standard deviations from the training mean."""
        return (inputs - self.mean) / self.scale

    def scores(self, standardised: Array) -> Array:
        """Return the components (…, c) of standardised inputs (…, i)."""
        return standardised @ self.weights


# What components and inputs are called, in words.

# The second input of a component is always named, the third where it loads at least this strongly.
_STRONG = 0.5


def input_names() -> tuple[str, ...]:
    """Return the 34 inputs: the features' names, then those of their deltas."""
    names = [feature.name.replace("_", " ") for feature in FEATURES]
    return (*names, *(f"growth of {name}" for name in names))


def component_labels(loadings: Array) -> tuple[str, ...]:
    """Return a label for each component: the two or three inputs that load most strongly on it, by absolute value.

    "less" stands before those that load negatively.

    Args:
        loadings: of shape (34, c).
    """
    return tuple(_label(column) for column in loadings.T)


def _label(loadings: Array) -> str:
    names = input_names()
    order = np.argsort(-np.abs(loadings), kind="stable")[:3]
    named = [index for rank, index in enumerate(order) if rank < 2 or abs(loadings[index]) >= _STRONG]
    return ", ".join(names[index] if loadings[index] >= 0 else f"less {names[index]}" for index in named)


# A device's cascade in its two files (`model_files.py`).

SHIPPED = Path(__file__).parent.parent / "data"
FORMAT_VERSION = 3
# The code that the features describe; a card that says nothing is older than other transforms.
TRANSFORMS = "replication alone"
# One network that is asked at every factor (PACT 2014, section 6.2).
NETWORKS = "one"
# The models of all devices: the launch model, and one that former versions trained.
_OF_ALL_DEVICES = (LAUNCH, "default")


def available_models(folder: Path = SHIPPED) -> tuple[str, ...]:
    """Return the names of the cascades in a folder, where the models of all devices may be too.

    Args:
        folder: of models; the shipped models' folder if left out.

    Returns:
        The names, in alphabetical order.
    """
    return tuple(name for name in model_names(folder) if name not in _OF_ALL_DEVICES)


def load_model(name: str, folder: Path = SHIPPED) -> CascadeModel:
    """Load a model.

    Args:
        name: such as `tahiti`.
        folder: where the model's two files are; the shipped models' folder if left out.

    Raises:
        InvalidInputError: no such model, a damaged file, or a model for another version of the features.
    """
    if name not in available_models(folder):
        known = ", ".join(available_models(folder)) or "none"
        raise InvalidInputError(f"there is no model '{name}'; there is: {known}")
    card = read_card(name, folder)
    check_format(name, card, FORMAT_VERSION)
    _check_card(name, card)
    tensors = read_tensors(name, folder, card)
    try:
        projection = _projection(tensors)
        steps = _steps(card["steps"], tensors, projection.weights.shape[1])
        kernels = {str(identity): str(kernel) for kernel, identity in card["data"]["identities"].items()}
        return CascadeModel(str(card["name"]), int(card["dimension"]), projection, steps, card, kernels)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise InvalidInputError(f"the model '{name}' is damaged: {error}") from None


def _check_card(name: str, card: Card) -> None:
    """Refuse a model that was made for other features, or other code than this version predicts for."""
    written = card.get("feature_set_version")
    if written != FEATURE_SET_VERSION or card.get("features") != [feature.name for feature in FEATURES]:
        raise InvalidInputError(
            f"the model '{name}' was made for version {written} of the features, this is version "
            f"{FEATURE_SET_VERSION}; train it again"
        )
    described = str(card.get("transforms", TRANSFORMS))[:40]
    if described != TRANSFORMS:
        raise InvalidInputError(
            f"the model '{name}' describes {described}, this version predicts for {TRANSFORMS}; train it again"
        )
    if card.get("networks") != NETWORKS:
        raise InvalidInputError(f"the model '{name}' has not one network for all factors; train it again")


def tensors_of(model: CascadeModel) -> Tensors:
    """Return a model's numbers by their names in the file."""
    found = {f"projection.{part.name}": getattr(model.projection, part.name) for part in fields(Projection)}
    network = model.steps[0].network
    if network is not None:
        parts = {part.name: getattr(network, part.name) for part in fields(Network)}
        found |= {f"network.{name}": np.atleast_1d(array) for name, array in parts.items()}
    return found


def _projection(tensors: Tensors) -> Projection:
    components = tensors["projection.weights"].shape[1:]
    inputs = (INPUT_COUNT,)
    both = (*inputs, *components)
    shapes = {"mean": inputs, "scale": inputs, "loadings": both, "weights": both, "shares": components}
    return Projection(**_arrays(tensors, "projection", shapes))


def _steps(cards: list[Mapping[str, Any]], tensors: Tensors, components: int) -> tuple[StepModel, ...]:
    network = None if all(card["constant"] for card in cards) else _network(tensors, components)
    steps = tuple(
        StepModel(int(card["factor"]), int(card["examples"]), int(card["further"]), network) for card in cards
    )
    if tuple(step.factor for step in steps) != STEP_FACTORS:
        raise ValueError(f"its steps are not those at the factors {', '.join(map(str, STEP_FACTORS))}")
    return steps


def _network(tensors: Tensors, components: int) -> Network:
    hidden = (len(tensors["network.hidden_biases"]),)
    weights = {"hidden_weights": (*hidden, components), "hidden_biases": hidden, "output_weights": hidden}
    arrays = _arrays(tensors, "network", {**weights, "output_bias": (1,)})
    bias = arrays.pop("output_bias")
    return Network(**arrays, output_bias=float(bias[0]))


def _arrays(tensors: Tensors, whose: str, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Array]:
    return {
        what: checked_tensor(
            tensors, f"{whose}.{what}", shape, np.float64, SMALLEST if what == "scale" else -LARGEST
        )
        for what, shape in shapes.items()
    }
