"""How well factors were predicted, against simple rules that need no features."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Score:
    """Over `kernels` kernels: how many were hit exactly or within one doubling, the mean |log₂ error|."""

    kernels: int
    exact: int
    within_one_step: int
    mean_absolute_log2_error: float


@dataclass(frozen=True)
class Evaluation:
    """Each method's predictions for each kernel, held out with its family, and the best factors.

    Methods: `cascade`; `never`, which never coarsens; `unique`, the most common best factor of the training
    kernels (the smaller of several); `published`, what the authors of the table predicted, where known.
    """

    best: Mapping[str, int]
    predicted: Mapping[str, Mapping[str, int]]

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods' names."""
        return tuple(self.predicted)

    def score(self, method: str) -> Score:
        """How well one method did."""
        predicted = self.predicted[method]
        errors = [abs(math.log2(predicted[kernel] / best)) for kernel, best in self.best.items()]
        return Score(
            kernels=len(errors),
            exact=sum(error == 0 for error in errors),
            within_one_step=sum(error <= 1 for error in errors),
            mean_absolute_log2_error=sum(errors) / len(errors),
        )


def most_common_factor(factors: Iterable[int]) -> int:
    """The factor that occurs most often; the smallest of those that do."""
    counts = Counter(factors)
    return min(counts, key=lambda factor: (-counts[factor], factor))
