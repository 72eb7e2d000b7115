"""Fits a method on each fold at each seed, and asks it about the kernels held out.

folds × seeds ─▶ fits ─▶ predictors ─▶ choices for held-out examples (without their answers)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from coarsen.models.evaluation.folds import Fold
from coarsen.models.evaluation.method import BatchMethod, Choice, Fit, Method

# Called with the fits done and their total.
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class FoldChoices:
    """What was chosen at one seed for each example that a fold holds out, in its order."""

    fold: Fold
    seed: int
    choices: tuple[Choice, ...]


def run_method(
    method: Method, folds: Sequence[Fold], seeds: Sequence[int], progress: Progress
) -> Iterator[FoldChoices]:
    """Yield every fold at every seed.

    Args:
        method: a `BatchMethod` is given all fits at once.
        folds: what to learn from and what to predict.
        seeds: one fit per fold for each.
        progress: told after each fit.
    """
    places = [(fold, seed) for fold in folds for seed in seeds]
    fits = [Fit(fold.training, seed) for fold, seed in places]
    if isinstance(method, BatchMethod):
        predictors = iter(method.fit_many(fits))
    else:
        predictors = (method.fit(fit.training, fit.seed) for fit in fits)
    for count, ((fold, seed), predictor) in enumerate(zip(places, predictors, strict=True), 1):
        choices = tuple(map(predictor.choose, fold.held_out))
        progress(count, len(fits))
        yield FoldChoices(fold, seed, choices)
