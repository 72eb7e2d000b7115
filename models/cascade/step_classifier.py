"""One step of the cascade as a scikit-learn classifier: rotated components, then a small network.

inputs (n, i) ─▶ VarimaxComponents ─▶ scores (n, c) ─▶ network ─▶ probability of the second class (n,)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from coarsen.models.cascade.model import Array, Network
from coarsen.models.cascade.varimax_components import VarimaxComponents, on_grid

# Called with the iterations done and their total.
Progress = Callable[[int, int], None]


def unobserved(_done: int, _total: int) -> None:
    """Do nothing: the progress of a training that nobody watches."""


@dataclass(frozen=True)
class NetworkSettings:
    """How a network is built and trained. Fixed beforehand, for all devices alike."""

    hidden_units: int = 4
    iterations: int = 500
    learning_rate: float = 0.02
    weight_decay: float = 0.01


@dataclass(frozen=True)
class Problem:
    """What one network learns: `inputs` (n, c), `targets` (n,) of 0 and 1; the seed of its first weights."""

    inputs: Array
    targets: Array
    seed: tuple[int, ...]


@dataclass(frozen=True)
class _Batch:
    """Problems padded to one shape: `inputs` (N, n, c), `targets` (N, n), `weights` (N, n), 0 for padding."""

    inputs: torch.Tensor
    targets: torch.Tensor
    weights: torch.Tensor


def train_networks(
    problems: Sequence[Problem], settings: NetworkSettings | None = None, progress: Progress = unobserved
) -> tuple[Network, ...]:
    """Train one network per problem; `progress` is told after each iteration of all."""
    if not problems:
        return ()
    settings = settings or NetworkSettings()
    with _deterministic():
        batch = _padded(problems)
        parameters = _initial(problems, batch.inputs.shape[2], settings)
        optimiser = torch.optim.Adam(parameters, lr=settings.learning_rate)
        for done in range(settings.iterations):
            optimiser.zero_grad()
            loss = _loss(batch, parameters, settings)
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            progress(done + 1, settings.iterations)
    arrays = [on_grid(parameter.detach().numpy()) for parameter in parameters]
    return tuple(_network(arrays, index, problem) for index, problem in enumerate(problems))


def logits(inputs: torch.Tensor, parameters: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return the networks' outputs (N, n) before the logistic function, for inputs (N, n, c)."""
    hidden_weights, hidden_biases, output_weights, output_biases = parameters
    hidden = torch.tanh(torch.einsum("Nnc,Nhc->Nnh", inputs, hidden_weights) + hidden_biases[:, None, :])
    return torch.einsum("Nnh,Nh->Nn", hidden, output_weights) + output_biases[:, None]


def _loss(batch: _Batch, parameters: Sequence[torch.Tensor], settings: NetworkSettings) -> torch.Tensor:
    each = torch.nn.functional.binary_cross_entropy_with_logits(
        logits(batch.inputs, parameters), batch.targets, reduction="none"
    )
    hidden_weights, _, output_weights, _ = parameters
    size = hidden_weights.square().sum() + output_weights.square().sum()
    return (each * batch.weights).sum() + settings.weight_decay * size


def _padded(problems: Sequence[Problem]) -> _Batch:
    examples = max(len(problem.targets) for problem in problems)
    components = max(problem.inputs.shape[1] for problem in problems)
    inputs = np.zeros((len(problems), examples, components))
    targets, weights = np.zeros((len(problems), examples)), np.zeros((len(problems), examples))
    for index, problem in enumerate(problems):
        count, width = problem.inputs.shape
        inputs[index, :count, :width] = problem.inputs
        targets[index, :count] = problem.targets
        weights[index, :count] = 1.0 / count
    return _Batch(torch.from_numpy(inputs), torch.from_numpy(targets), torch.from_numpy(weights))


def _initial(problems: Sequence[Problem], components: int, settings: NetworkSettings) -> list[torch.Tensor]:
    """First weights: uniform within 1 / √(inputs of the layer), biases 0."""
    hidden = settings.hidden_units
    hidden_weights = np.zeros((len(problems), hidden, components))
    output_weights = np.zeros((len(problems), hidden))
    for index, problem in enumerate(problems):
        generator = np.random.Generator(np.random.PCG64(problem.seed))
        width = problem.inputs.shape[1]
        hidden_weights[index, :, :width] = generator.uniform(-1.0, 1.0, (hidden, width)) / np.sqrt(width)
        output_weights[index] = generator.uniform(-1.0, 1.0, hidden) / np.sqrt(hidden)
    biases = np.zeros((len(problems), hidden)), np.zeros(len(problems))
    arrays = (hidden_weights, biases[0], output_weights, biases[1])
    return [torch.from_numpy(array).requires_grad_() for array in arrays]


def _network(arrays: Sequence[Array], index: int, problem: Problem) -> Network:
    hidden_weights, hidden_biases, output_weights, output_biases = (array[index] for array in arrays)
    width = problem.inputs.shape[1]
    return Network(hidden_weights[:, :width].copy(), hidden_biases, output_weights, float(output_biases))


@contextmanager
def _deterministic() -> Iterator[None]:
    """One thread and deterministic algorithms; what the process had before comes back afterwards."""
    threads, deterministic = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(deterministic)


class CascadeStepClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Answers a question with two answers, such as "coarsen further?", as each step of the cascade does.

    Args:
        components: an unfitted transformer of the inputs, `VarimaxComponents()` if left out. One that is fitted
            already, on more samples than have an answer, is given as `sklearn.frozen.FrozenEstimator(fitted)`.
        hidden_units: the network's hidden units.
        iterations: steps of the optimiser, each over all samples.
        learning_rate: of the optimiser (Adam).
        weight_decay: the penalty on the squared weights.
        random_state: the source of the first weights, as everywhere in scikit-learn.

    Attributes:
        classes_: the two answers, in rising order.
        n_features_in_: the number of inputs.
        components_: the fitted transformer.
        network_: the trained `Network`, which gives the probability of the second answer.
    """

    def __init__(
        self,
        components: BaseEstimator | None = None,
        hidden_units: int = 4,
        iterations: int = 500,
        learning_rate: float = 0.02,
        weight_decay: float = 0.01,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.components = components
        self.hidden_units = hidden_units
        self.iterations = iterations
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:  # noqa: N803 - scikit-learn's name
        """Fit on samples of shape (n, i) and their answers (n,).

        Raises:
            ValueError: the samples are no numbers, or there are not exactly two answers.
        """
        fit_together([StepFit(self, X, y)])
        return self

    def predict_proba(self, X: ArrayLike) -> Array:  # noqa: N803 - scikit-learn's name
        """Return the probabilities (n, 2) of the answers, for samples (n, i)."""
        check_is_fitted(self)
        samples = validate_data(self, X, dtype=np.float64, reset=False)
        second = self.network_.probability(self.components_.transform(samples))
        return np.stack([1.0 - second, second], axis=1)

    def predict(self, X: ArrayLike) -> NDArray[Any]:  # noqa: N803 - scikit-learn's name
        """Return the more probable answers (n,), for samples (n, i); the first of two that are equally so."""
        probabilities = self.predict_proba(X)
        answers: NDArray[Any] = self.classes_[(probabilities[:, 1] > probabilities[:, 0]).astype(int)]
        return answers

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 - its type is scikit-learn's own
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


@dataclass(frozen=True)
class StepFit:
    """A classifier and what it is to be fitted on: `samples` (n, i) and `answers` (n,)."""

    classifier: CascadeStepClassifier
    samples: ArrayLike
    answers: ArrayLike


def fit_together(fits: Sequence[StepFit], progress: Progress = unobserved) -> None:
    """Fit classifiers, each as its `fit` does; all networks are trained as one batch, which is much faster.

    Args:
        fits: the classifiers, each with what it learns from.
        progress: told how far the training is.

    Raises:
        ValueError: see `CascadeStepClassifier.fit`; the classifiers' networks differ in more than their seeds.
    """
    if not fits:
        return
    settings = {_settings(fit.classifier) for fit in fits}
    if len(settings) > 1:
        raise ValueError("classifiers that are fitted together need the same settings")
    problems = [_problem(fit) for fit in fits]
    for fit, network in zip(fits, train_networks(problems, settings.pop(), progress), strict=True):
        fit.classifier.network_ = network


def _settings(classifier: CascadeStepClassifier) -> NetworkSettings:
    return NetworkSettings(
        classifier.hidden_units, classifier.iterations, classifier.learning_rate, classifier.weight_decay
    )


def _problem(fit: StepFit) -> Problem:
    """Check the samples, fit the components on them and state the network's problem."""
    classifier = fit.classifier
    samples, answers = validate_data(classifier, fit.samples, fit.answers, dtype=np.float64, ensure_min_samples=2)
    classifier.classes_, targets = _encoded(answers)
    components = VarimaxComponents() if classifier.components is None else clone(classifier.components)
    classifier.components_ = components.fit(samples, answers)
    seed = check_random_state(classifier.random_state).randint(2**31)
    return Problem(classifier.components_.transform(samples), targets, (int(seed),))


def _encoded(answers: NDArray[Any]) -> tuple[NDArray[Any], Array]:
    """The two answers, and 1 for each sample (n,) that has the second, 0 for the others."""
    check_classification_targets(answers)
    classes, indices = np.unique(answers, return_inverse=True)
    if len(classes) > 2:
        kind = type_of_target(answers)
        raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
    if len(classes) < 2:
        raise ValueError("there must be samples of two classes, not of one alone")
    return classes, indices.astype(np.float64)
