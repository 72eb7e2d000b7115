"""Fits a method on each fold at each seed, and asks it about the kernels held out.

folds × seeds ─▶ fits ─▶ predictors ─▶ choices for held-out examples (without their answers)
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from coarsen.models.evaluation.folds import Fold
from coarsen.models.evaluation.method import BatchMethod, Choice, Fit, Method, Predictor

# Called with the fits done and their total.
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class FoldChoices:
    """What was chosen at one seed for each example that a fold holds out, in its order."""

    fold: Fold
    seed: int
    choices: tuple[Choice, ...]


def run_method(
    method: Method, folds: Sequence[Fold], seeds: Sequence[int], processes: int, progress: Progress
) -> Iterator[FoldChoices]:
    """Yield every fold at every seed.

    Args:
        method: a `BatchMethod` is given all fits at once, in this process.
        folds: what to learn from and what to predict.
        seeds: one fit per fold for each.
        processes: how many to use; with 1 all is done in this one.
        progress: told after each fit.
    """
    total = len(folds) * len(seeds)
    for count, done in enumerate(_fold_choices(method, folds, seeds, processes), 1):
        progress(count, total)
        yield done


def _fold_choices(
    method: Method, folds: Sequence[Fold], seeds: Sequence[int], processes: int
) -> Iterable[FoldChoices]:
    if isinstance(method, BatchMethod):
        return _in_one_batch(method, folds, seeds)
    if min(processes, len(folds) * len(seeds)) > 1:
        return _in_processes(method, folds, seeds, processes)
    return (_fitted(method, fold, seed) for fold in folds for seed in seeds)


def _in_one_batch(method: BatchMethod, folds: Sequence[Fold], seeds: Sequence[int]) -> Iterator[FoldChoices]:
    places = [(fold, seed) for fold in folds for seed in seeds]
    predictors = method.fit_many([Fit(fold.training, seed) for fold, seed in places])
    for (fold, seed), predictor in zip(places, predictors, strict=True):
        yield _asked(predictor, fold, seed)


def _in_processes(
    method: Method, folds: Sequence[Fold], seeds: Sequence[int], processes: int
) -> Iterator[FoldChoices]:
    # A fold's examples travel to a process once for several seeds. Forked processes would inherit locked locks.
    shares = [share for start in range(processes) if (share := seeds[start::processes])]
    tasks = [(fold, share) for fold in folds for share in shares]
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        for done in pool.map(_fitted_at_seeds, [method] * len(tasks), *zip(*tasks, strict=True)):
            yield from done


def _fitted_at_seeds(method: Method, fold: Fold, seeds: Sequence[int]) -> list[FoldChoices]:
    return [_fitted(method, fold, seed) for seed in seeds]


def _fitted(method: Method, fold: Fold, seed: int) -> FoldChoices:
    return _asked(method.fit(fold.training, seed), fold, seed)


def _asked(predictor: Predictor, fold: Fold, seed: int) -> FoldChoices:
    return FoldChoices(fold, seed, tuple(map(predictor.choose, fold.held_out)))
