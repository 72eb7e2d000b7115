"""Models that stand for measuring: log times of choices, learned from those that were tried.

choices ─▶ rows of numbers ─▶ a model fitted to trials ─▶ log times of fresh choices
"""

from __future__ import annotations

import abc
import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coarsen.tuning.search.evaluator import Evaluator, Trial
from coarsen.tuning.search.searcher import time_of
from coarsen.tuning.search.spaces import (
    Axis,
    Choice,
    SearchSpace,
    is_enumerable,
    neighbours,
    number_of,
    random_order,
    valid_choices,
)

# What was expected hardly differs: nothing measured tells against it.
_NO_SPREAD = 1e-12

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Predicted:
    """Log times that a model predicts, one for each choice.

    Attributes:
        mean: the expectation.
        deviation: the standard deviation, as far as the model is unsure; 0 or above.
    """

    mean: Floats
    deviation: Floats


# Rows of numbers of choices, for regression models.
Rows = Callable[[Sequence[Choice]], Floats]
# Predicts log times of choices.
Predict = Callable[[Sequence[Choice]], Predicted]


class Surrogate(abc.ABC):
    """A model of log times.

    Args:
        rows: makes rows of choices.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def fit(self, trials: Sequence[Trial], seed: int) -> Predict:
        """Fit everything tried; return what predicts log times. What failed is as slow as the slowest that ran.

        Args:
            trials: at least one with a time.
            seed: of what is drawn.
        """
        learned = self._learned(self._rows([trial.choice for trial in trials]), log_times(trials), seed)
        return lambda choices: learned(self._rows(choices))

    @abc.abstractmethod
    def _learned(self, rows: Floats, times: Floats, seed: int) -> Callable[[Floats], Predicted]:
        """Learn log times; return what predicts them."""


def log_times(trials: Sequence[Trial]) -> Floats:
    """Return the logarithms of times. What failed counts as slow as the slowest that ran.

    Args:
        trials: at least one with a time.
    """
    slowest = max(trial.time for trial in trials if trial.time is not None)
    return np.array([math.log(slowest if trial.time is None else trial.time) for trial in trials])


def weight_of(expected: Floats, measured: Floats) -> float:
    """Return how far what was expected is to be believed, from 0 to 1: the slope of what was measured over it.

    Args:
        expected: log times.
        measured: log times of the same choices.
    """
    deviation = expected - expected.mean()
    spread = float(deviation @ deviation)
    return 1.0 if spread <= _NO_SPREAD else float(np.clip(deviation @ (measured - measured.mean()) / spread, 0, 1))


# Choices as rows of numbers, for regression models.

# Beside a number with so many values its power of two tells something new.
_LEAST_VALUES = 5
# A power of two is a hint, where the value itself is a fact: it is to be half as far.
_POWER_WEIGHT = 0.5


def product_rows(space: SearchSpace) -> Rows:
    """Return what makes rows of logarithms of numbers, of products and quotients of any two, and powers of two.

    Trees split one column at a time: the size of a work-group, or of what it reads, is then one split, not many.
    """
    logarithms = [_logarithms(axis) for axis in space.axes]
    plain = [_plain(axis) if known is None else known for axis, known in zip(space.axes, logarithms, strict=True)]
    powers = [_powers(axis) for axis in space.axes]

    def rows(choices: Sequence[Choice]) -> Floats:
        columns = [column[:, None] for table in _looked_up(logarithms, choices) for column in table.T]
        pairs = [each for one, other in itertools.combinations(columns, 2) for each in (one + other, one - other)]
        return np.hstack([*_looked_up(plain, choices), *_looked_up(powers, choices), *pairs])

    return rows


def unit_rows(space: SearchSpace) -> Rows:
    """Return what makes rows for models of distances: logarithms of numbers and powers of two, from 0 to 1."""
    tables = [_unit_columns(axis) for axis in space.axes]
    return lambda choices: np.hstack(list(_looked_up(tables, choices)))


def _looked_up(tables: Sequence[Floats | None], choices: Sequence[Choice]) -> Iterator[Floats]:
    """The rows of each axis's table that choices have; of those that are there."""
    indices = np.array(choices, dtype=np.intp).reshape(len(choices), len(tables))
    return (table[indices[:, place]] for place, table in enumerate(tables) if table is not None)


def _plain(axis: Axis) -> Floats:
    """The columns of an axis: numbers as they are, shapes by entries and product, other values one column each."""
    entries = _entries(axis)
    if entries is None:
        return np.eye(len(axis.values))
    if entries.shape[1] == 1 and not isinstance(axis.values[0], tuple):
        return entries
    return np.hstack([entries, entries.prod(axis=1, keepdims=True)])


def _unit_columns(axis: Axis) -> Floats:
    logarithms, powers = _logarithms(axis), _powers(axis)
    if logarithms is None:
        return _in_unit(_plain(axis))
    values = _in_unit(logarithms)
    return values if powers is None else np.hstack([values, _POWER_WEIGHT * _in_unit(powers)])


def _entries(axis: Axis) -> Floats | None:
    """The numbers of each value, one or, of a shape, several; None where a value is no number."""
    values = [value if isinstance(value, tuple) else (value,) for value in axis.values]
    numbers = [[number_of(entry) for entry in value] for value in values]
    if any(number is None for row in numbers for number in row):
        return None
    longest = max(map(len, numbers))
    return np.array([[*row, *[1.0] * (longest - len(row))] for row in numbers], dtype=np.float64)


def _logarithms(axis: Axis) -> Floats | None:
    """The logarithms of the numbers, as far as all are above 0."""
    entries = _entries(axis)
    return None if entries is None or (entries <= 0).any() else np.log2(entries)


def _powers(axis: Axis) -> Floats | None:
    """The exponent of the largest power of two that divides each value; None where it tells nothing new."""
    entries, logarithms = _entries(axis), _logarithms(axis)
    if entries is None or logarithms is None or len(axis.values) < _LEAST_VALUES or (entries % 1).any():
        return None
    whole = entries.astype(np.int64)
    powers = np.log2(whole & -whole)
    return None if np.allclose(powers, logarithms) or np.ptp(powers) == 0 else powers


def _in_unit(columns: Floats) -> Floats:
    low, spread = columns.min(axis=0), np.ptp(columns, axis=0)
    scaled: Floats = (columns - low) / np.where(spread == 0, 1.0, spread)
    return scaled


# A space of more choices is not ranked whole: drawn choices are, and the neighbours of the fastest ones.
_RANKED_WHOLE = 5_000
_TESTED = 100_000
_DRAWN = 2_500
_FASTEST = 10


class Candidates:
    """The valid choices of a space that were not tried yet, or many of them.

    Args:
        evaluator: knows what was tried.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._whole = _listed(evaluator)

    def fresh(self, draw: random.Random) -> list[Choice]:
        """Return choices that were not tried, in random order, so that none is preferred among equals."""
        listed = self._whole if self._whole is not None else self._some(draw)
        fresh = [choice for choice in listed if not self._evaluator.has_tried(choice)]
        draw.shuffle(fresh)
        return fresh

    def _some(self, draw: random.Random) -> list[Choice]:
        space = self._evaluator.space
        ran = sorted((trial for trial in self._evaluator.trace if trial.time is not None), key=time_of)
        near = (choice for trial in ran[:_FASTEST] for choice in neighbours(space, trial.choice))
        drawn = itertools.islice(random_order(space, draw), _DRAWN)
        return list(dict.fromkeys(itertools.chain(near, drawn)))


def _listed(evaluator: Evaluator) -> list[Choice] | None:
    if not is_enumerable(evaluator.space, _TESTED):
        return None
    listed = list(itertools.islice(valid_choices(evaluator.space), _RANKED_WHOLE + 1))
    return listed if len(listed) <= _RANKED_WHOLE else None
