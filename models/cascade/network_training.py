"""Training of the cascade's small networks, in torch.

All networks of a model and of its leave-one-out folds are trained side by side as one batch: they share no
weight, no example and, Adam being elementwise, no step size.

Notation: N networks, n examples (padded), c components (padded), h hidden units.

    loss = Σ over networks ( mean cross entropy over its examples + weight decay · Σ weight² )

Made to give the same numbers anywhere: initial weights from NumPy's PCG64, full batches in double precision,
a fixed number of iterations, one thread, and weights rounded to the grid of `rounding.py` at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch

from coarsen.models.cascade.network import Network
from coarsen.models.cascade.rounding import on_grid
from coarsen.models.cascade.step_inputs import Array

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
