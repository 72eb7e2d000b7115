"""What is learned from, for each kernel that is held out.

Strict: a held-out family is unseen on every device, at every factor and along every dimension. Versions of one
algorithm (mt and mtLocal) are one family.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from coarsen.errors import InternalError
from coarsen.models.evaluation.method import BatchMethod, Choice, Fit, Method
from coarsen.models.examples import Example


@dataclass(frozen=True)
class Fold:
    """Examples to learn from, and others to predict: of other families, and without their answers."""

    training: tuple[Example, ...]
    held_out: tuple[Example, ...]

    def __post_init__(self) -> None:
        seen = {example.family for example in self.training} & {example.family for example in self.held_out}
        if seen:
            raise InternalError(f"held out and learned from at once: {', '.join(sorted(seen))}")
        if any(example.speedup or example.best_factor != 1 for example in self.held_out):
            raise InternalError("the answers of held-out kernels are visible")


def leave_one_family_out(evaluated: Sequence[Example], training: Sequence[Example]) -> tuple[Fold, ...]:
    """Return a fold for each family that is evaluated; those that nothing could be learned of anyway share one.

    Args:
        evaluated: to be predicted.
        training: to be learned from, but for the family that is held out.

    Returns:
        folds in which every evaluated example is held out once, in the order of the families.
    """
    learned = {example.family for example in training}
    families = dict.fromkeys(example.family for example in evaluated)
    unknown = frozenset(family for family in families if family not in learned)
    groups = [frozenset([family]) for family in families if family in learned]
    return tuple(_fold(group, evaluated, training) for group in ([unknown] if unknown else []) + groups)


def _fold(families: frozenset[str], evaluated: Sequence[Example], training: Sequence[Example]) -> Fold:
    return Fold(
        tuple(example for example in training if example.family not in families),
        tuple(example.blind() for example in evaluated if example.family in families),
    )


# Fits a method on each fold at each seed, and asks it about the kernels held out.
#
# folds × seeds ─▶ fits ─▶ predictors ─▶ choices for held-out examples (without their answers)

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
