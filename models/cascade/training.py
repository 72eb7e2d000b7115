"""Fitting cascades: one set of components and one network for all steps.

examples ─▶ inputs of all steps  ─▶ components ─▶ scores ─┐
         └▶ answers of all steps ─────────────────────────┴▶ network ─▶ CascadeModel

The question at factor f (PACT 2014, section 6): does the next step, to 2f, help? One network is asked at every
factor. It learns from five samples of each kernel: further below the best factor, stop at it and beyond it. The
components are fitted on the training kernels' inputs at every factor, since the paper shows one set of loadings
for the whole cascade (figure 9); they need no targets.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from coarsen.errors import InvalidInputError
from coarsen.models.cascade.model import (
    STEP_FACTORS,
    Array,
    CascadeModel,
    Network,
    Projection,
    StepModel,
    step_inputs,
)
from coarsen.models.examples import Example, Fit
from coarsen.models.held_out import refuse_held_out

# Fewer examples than this, or all of one kind, and a step's answer is constant.
FEWEST_EXAMPLES = 4
# How a network is built and trained: fixed beforehand, for all devices alike.
HIDDEN_UNITS = 4
ITERATIONS = 500
LEARNING_RATE = 0.02
WEIGHT_DECAY = 0.01

# Called with the iterations done and their total.
Progress = Callable[[int, int], None]
# A device and a dimension.
Place = tuple[str, int]


def unobserved(_done: int, _total: int) -> None:
    """Do nothing: the progress of a training that nobody watches."""


@dataclass(frozen=True)
class _Known:
    """What a set of examples says: the components, all samples' scores (n, c), whether a larger factor is best."""

    place: Place
    projection: Projection
    scores: Array
    further: NDArray[np.bool_]

    @property
    def is_constant(self) -> bool:
        further = int(self.further.sum())
        return len(self.further) < FEWEST_EXAMPLES or further in (0, len(self.further))


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
        InvalidInputError: examples of several devices or dimensions, fewer than two, or a kernel that no model is
            fitted to.
    """
    refuse_held_out(example.kernel for fit in fits for example in fit.training)
    # Found out once where the same examples come again with another seed.
    by_examples = {tuple(map(id, fit.training)): fit.training for fit in fits}
    known = {key: _known_from(training) for key, training in by_examples.items()}
    of_fits = [known[tuple(map(id, fit.training))] for fit in fits]
    problems = [
        Problem(each.scores, each.further.astype(np.float64), fit.seed)
        for fit, each in zip(fits, of_fits, strict=True)
        if not each.is_constant
    ]
    networks = iter(train_networks(problems, progress))
    return [_model(each, None if each.is_constant else next(networks)) for each in of_fits]


def _known_from(examples: Sequence[Example]) -> _Known:
    if len(examples) < 2:
        raise InvalidInputError("a cascade needs at least two kernels to learn from")
    places = {(example.device, example.dimension) for example in examples}
    if len(places) > 1:
        raise InvalidInputError("a cascade learns from the kernels of one device, along one dimension")
    inputs, further = step_samples(examples)
    projection = fit_projection(inputs)
    return _Known(places.pop(), projection, projection.scores(projection.standardise(inputs)), further)


def step_samples(examples: Sequence[Example]) -> tuple[Array, NDArray[np.bool_]]:
    """Return five samples of each example: inputs (n, 34), and whether a larger factor is best (n,).

    Raises:
        InvalidInputError: a table lacks a factor.
    """
    inputs = [step_inputs(example.table, factor) for example in examples for factor in STEP_FACTORS]
    further = [factor < example.best_factor for example in examples for factor in STEP_FACTORS]
    return np.stack(inputs), np.array(further, dtype=bool)


def _model(known: _Known, network: Network | None) -> CascadeModel:
    samples, further = len(known.further), int(known.further.sum())
    steps = tuple(StepModel(factor, samples, further, network) for factor in STEP_FACTORS)
    return CascadeModel(*known.place, known.projection, steps)


# The networks, by PyTorch: all in one batch, which is much faster than one after the other.


@dataclass(frozen=True)
class Problem:
    """What one network learns: `scores` (n, c), `targets` (n,) of 0 and 1; the seed of its first weights."""

    scores: Array
    targets: Array
    seed: int


def train_networks(problems: Sequence[Problem], progress: Progress = unobserved) -> tuple[Network, ...]:
    """Train one network per problem; `progress` is told after each iteration of all."""
    if not problems:
        return ()
    with _deterministic():
        inputs, targets, weights = _padded(problems)
        parameters = _initial(problems, inputs.shape[2])
        optimiser = torch.optim.Adam(parameters, lr=LEARNING_RATE)
        for done in range(ITERATIONS):
            optimiser.zero_grad()
            each = torch.nn.functional.binary_cross_entropy_with_logits(
                logits(inputs, parameters), targets, reduction="none"
            )
            size = parameters[0].square().sum() + parameters[2].square().sum()
            loss = (each * weights).sum() + WEIGHT_DECAY * size
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            progress(done + 1, ITERATIONS)
    arrays = [on_grid(parameter.detach().numpy()) for parameter in parameters]
    return tuple(_network([array[n] for array in arrays], problem) for n, problem in enumerate(problems))


def logits(inputs: torch.Tensor, parameters: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return the networks' outputs (N, n) before the logistic function, for inputs (N, n, c)."""
    hidden_weights, hidden_biases, output_weights, output_biases = parameters
    hidden = torch.tanh(torch.einsum("Nnc,Nhc->Nnh", inputs, hidden_weights) + hidden_biases[:, None, :])
    return torch.einsum("Nnh,Nh->Nn", hidden, output_weights) + output_biases[:, None]


def _padded(problems: Sequence[Problem]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Problems in one shape: inputs (N, n, c), targets (N, n), weights (N, n), 0 for padding."""
    samples = max(len(problem.targets) for problem in problems)
    components = max(problem.scores.shape[1] for problem in problems)
    inputs = np.zeros((len(problems), samples, components))
    targets, weights = np.zeros((len(problems), samples)), np.zeros((len(problems), samples))
    for index, problem in enumerate(problems):
        count, width = problem.scores.shape
        inputs[index, :count, :width] = problem.scores
        targets[index, :count] = problem.targets
        weights[index, :count] = 1.0 / count
    return torch.from_numpy(inputs), torch.from_numpy(targets), torch.from_numpy(weights)


def _initial(problems: Sequence[Problem], components: int) -> list[torch.Tensor]:
    """First weights: uniform within 1 / √(inputs of the layer), biases 0."""
    hidden_weights = np.zeros((len(problems), HIDDEN_UNITS, components))
    output_weights = np.zeros((len(problems), HIDDEN_UNITS))
    for index, problem in enumerate(problems):
        seed = np.random.RandomState(problem.seed).randint(2**31)
        generator = np.random.Generator(np.random.PCG64((int(seed),)))
        width = problem.scores.shape[1]
        drawn = generator.uniform(-1.0, 1.0, (HIDDEN_UNITS, width))
        hidden_weights[index, :, :width] = drawn / np.sqrt(width)
        output_weights[index] = generator.uniform(-1.0, 1.0, HIDDEN_UNITS) / np.sqrt(HIDDEN_UNITS)
    biases = np.zeros((len(problems), HIDDEN_UNITS)), np.zeros(len(problems))
    arrays = (hidden_weights, biases[0], output_weights, biases[1])
    return [torch.from_numpy(array).requires_grad_() for array in arrays]


def _network(arrays: Sequence[Array], problem: Problem) -> Network:
    hidden_weights, hidden_biases, output_weights, output_bias = arrays
    width = problem.scores.shape[1]
    return Network(hidden_weights[:, :width].copy(), hidden_biases, output_weights, float(output_bias))


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


# The cascade as a method of the evaluation: a model per device and dimension, learned from its examples alone.


@dataclass(frozen=True)
class CascadePredictor:
    """What answers with the factor at which the cascade of the example's device and dimension stops.

    `is_cautious` where it answers 1 if a step is doubtful.
    """

    models: Mapping[Place, CascadeModel]
    is_cautious: bool = False

    def __call__(self, example: Example) -> int:
        """Return the factor for an example."""
        model = self.models.get((example.device, example.dimension))
        if model is None:
            return 1
        prediction = model.predict(example.table)
        return (prediction.cautiously() if self.is_cautious else prediction).factor


def fit_predictors(fits: Sequence[Fit], progress: Progress = unobserved) -> list[CascadePredictor]:
    """Return the published predictor (PACT 2014, section 6) of each fit, with all networks trained as one batch.

    It knows nothing of other devices: where it has fewer than `FEWEST_EXAMPLES` examples of a device along the
    dimension in question, it stays at factor 1.
    """
    groups = [_by_place(fit.training) for fit in fits]
    wanted = [
        Fit(examples, fit.seed) for fit, group in zip(fits, groups, strict=True) for examples in group.values()
    ]
    models = iter(fit_cascades(wanted, progress))
    return [CascadePredictor({place: next(models) for place in group}) for group in groups]


def _by_place(examples: Sequence[Example]) -> dict[Place, tuple[Example, ...]]:
    """The examples that each model learns from, where there are enough."""
    groups: defaultdict[Place, list[Example]] = defaultdict(list)
    for example in examples:
        groups[example.device, example.dimension].append(example)
    return {place: tuple(group) for place, group in groups.items() if len(group) >= FEWEST_EXAMPLES}


# Standardisation, principal components and varimax rotation of the cascade's inputs.
#
# Notation: n samples, i inputs, c components kept, R the varimax rotation (c, c).
#
#     Z = (X − mean) / scale                   (n, i)
#     Zᵀ Z / n = V Λ Vᵀ                        the correlations of the inputs; the first c eigenvectors are kept
#     A = V Λ^½ R                              (i, c)   rotated loadings: correlations of inputs with components
#     W = A (Aᵀ A)⁻¹ = V Λ^−½ R                (i, c)   weights
#     S = Z W                                  (n, c)   scores, uncorrelated, each of variance 1

VARIANCE = 0.95


def fit_projection(samples: Array) -> Projection:
    """Return the rotated principal components (PACT 2014, section 6): the fewest that hold enough of the variance.

    Components stand in falling order of the variance that they hold after rotation; the sign is the one that makes
    the largest loadings positive. An input that is the same in all samples contributes nothing.

    Args:
        samples: (n, i), at least two.

    Raises:
        ValueError: all samples are alike.
    """
    scaler = StandardScaler().fit(samples)
    scale = significant(scaler.scale_)
    mean = on_grid(scaler.mean_ / scale) * scale
    standardised = (samples - mean) / scale
    total = float(standardised.var(axis=0).sum())
    if total == 0.0:
        raise ValueError("all samples are alike: there are no components to find")
    kept = PCA(n_components=VARIANCE, svd_solver="full").fit(standardised)
    # scikit-learn divides by n − 1, standardisation by n.
    spread = np.sqrt(kept.explained_variance_ * (1 - 1 / len(standardised)))
    unrotated: Array = kept.components_.T * spread
    # In the order that a file keeps them in: products of other orders differ in their last bits.
    loadings = np.ascontiguousarray(on_grid(_ordered(unrotated @ varimax_rotation(unrotated))))
    weights = np.asarray(np.linalg.solve(loadings.T @ loadings, loadings.T).T, dtype=np.float64)
    shares: Array = (loadings**2).sum(axis=0) / total
    return Projection(mean, scale, loadings, np.ascontiguousarray(on_grid(weights)), on_grid(shares))


def _ordered(loadings: Array) -> Array:
    """The components in falling order of what they hold, with fixed signs.

    The sign is that of a sum of cubes, in which the largest loadings decide. Its weights differ from input to
    input, since equal and opposite loadings, of inputs that are perfectly correlated, must not cancel.
    """
    order = np.argsort(-on_grid((loadings**2).sum(axis=0)), kind="stable")
    weights = 1.0 / (20.0 + np.arange(len(loadings)))
    signs = np.where(weights @ loadings[:, order] ** 3 < 0.0, -1.0, 1.0)
    return loadings[:, order] * signs


# Numbers rounded to a grid, so that the last bits of another processor's arithmetic do not show in a model.

GRID = 2.0**-12
_SIGNIFICANT_BITS = 24


def on_grid(values: Array) -> Array:
    """Return values rounded to multiples of 2⁻¹², without negative zeros; for values around 1."""
    return np.round(values / GRID) * GRID + 0.0


def significant(values: Array) -> Array:
    """Return values rounded to 24 significant bits; for values of any size."""
    mantissas, exponents = np.frexp(values)
    rounded: Array = np.ldexp(np.round(np.ldexp(mantissas, _SIGNIFICANT_BITS)), exponents - _SIGNIFICANT_BITS)
    return rounded


# Varimax rotation of component loadings (H. F. Kaiser, "The varimax criterion for analytic rotation in factor
# analysis", Psychometrika 23, 1958).
#
# It turns the components until each one loads strongly on a few inputs and hardly on the others, so that it can be
# named; what they explain together stays the same.

_ITERATIONS = 1000
_TOLERANCE = 1e-12
# An input with no larger loadings than this is constant, but for rounding errors.
_NOTHING = 1e-9


def varimax_rotation(loadings: Array) -> Array:
    """Return the orthogonal matrix R, of shape (c, c), for which the loadings L R meet the varimax criterion.

    With B = L R, rows scaled to length 1 (Kaiser's normalisation), it is a maximum of

        Σ over components ( mean of b⁴ − (mean of b²)² )

    found by iteration from R = 1: the polar part of the criterion's gradient is the next R.

    Args:
        loadings: L, of shape (i, c); inputs that load on nothing do not count.
    """
    lengths = np.linalg.norm(loadings, axis=1, keepdims=True)
    loading = lengths[:, 0] > _NOTHING
    normal = loadings[loading] / lengths[loading]
    rotation = np.eye(loadings.shape[1])
    for _ in range(_ITERATIONS):
        rotated = normal @ rotation
        gradient = normal.T @ (rotated**3 - rotated * (rotated**2).mean(axis=0))
        left, _, right = np.linalg.svd(gradient)
        before, rotation = rotation, left @ right
        if np.abs(rotation - before).max() < _TOLERANCE:
            break
    return rotation
