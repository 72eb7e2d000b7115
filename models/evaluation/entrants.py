"""The methods that can be evaluated, by name, and how each is fitted."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from coarsen.base.names import did_you_mean
from coarsen.errors import InvalidInputError
from coarsen.features import FACTORS
from coarsen.models.evaluation.scores import log_speedup_of
from coarsen.models.examples import Example, Fit, Predictor

if TYPE_CHECKING:
    from coarsen.models.cascade.training import CascadePredictor, Progress


# The factor by device and dimension.
_Factors = Mapping[tuple[str, int], int]


def one_factor(factors: _Factors) -> Predictor:
    """Return what chooses the device's factor whatever the kernel, 1 where none is known."""
    return lambda example: factors.get((example.device, example.dimension), 1)


def fit_unique(fits: Sequence[Fit]) -> Iterable[Predictor]:
    """Yield for each fit one factor for every kernel, the baseline of Magni et al. (PACT 2014, section 7).

    It is the factor with the best geometric mean over the training kernels of the device, along the dimension in
    question; where only best factors are known, the most common of them. The smaller one of equals. On a device
    that it has no training examples of, it stays at 1.
    """
    for fit in fits:
        groups: defaultdict[tuple[str, int], list[Example]] = defaultdict(list)
        for example in fit.training:
            groups[example.device, example.dimension].append(example)
        yield one_factor({place: best_single_factor(examples) for place, examples in groups.items()})


def best_single_factor(examples: Sequence[Example]) -> int:
    """Return the factor that is best for all of them together; see `fit_unique`."""
    measured = [example for example in examples if example.speedup]
    if not measured:
        counts = Counter(example.best_factor for example in examples)
        return min(counts, key=lambda factor: (-counts[factor], factor))
    gains = {factor: sum(log_speedup_of(example, factor) for example in measured) for factor in FACTORS}
    return min(gains, key=lambda factor: (-gains[factor], factor))


@dataclass(frozen=True)
class Entrant:
    """A method in the evaluation.

    Args:
        name: by which `Plan.methods` names it.
        description: for a reader of the table.
        fit: yields a predictor for each fit, in their order; none may learn from another's examples. None for
            those that are no predictors, since they look at the answer or at a table.
        is_random: whether the seed matters.
    """

    name: str
    description: str
    fit: Callable[[Sequence[Fit]], Iterable[Predictor]] | None
    is_random: bool = False


def cascade_entrants(progress: Progress | None = None) -> tuple[Entrant, Entrant]:
    """Return the cascade as it answers, and as it answers with `--risk cautious`.

    Evaluated one after the other they are trained once. `progress` is told how far the training is.
    """
    fitted: list[CascadePredictor] = []

    def train(fits: Sequence[Fit]) -> list[CascadePredictor]:
        # Imported late: it loads PyTorch.
        from coarsen.models.cascade.training import fit_predictors, unobserved

        return fit_predictors(fits, progress or unobserved)

    def fit(fits: Sequence[Fit]) -> Iterable[Predictor]:
        fitted[:] = train(fits)
        return tuple(fitted)

    def fit_cautious(fits: Sequence[Fit]) -> Iterable[Predictor]:
        return [replace(each, is_cautious=True) for each in fitted or train(fits)]

    return (
        Entrant("cascade", "the published model, of one device", fit, is_random=True),
        Entrant("cautious", "the same, but 1 where a step is doubtful", fit_cautious, is_random=True),
    )


NEVER, UNIQUE, ORACLE, PUBLISHED = "never", "unique", "oracle", "published"
ENTRANTS: Mapping[str, Entrant] = MappingProxyType(
    {
        entrant.name: entrant
        for entrant in (
            Entrant(NEVER, "no coarsening", lambda fits: (one_factor({}) for _ in fits)),
            Entrant(UNIQUE, "one factor for all kernels, the best for those it learned from", fit_unique),
            Entrant(PUBLISHED, "what the authors of table 5 predicted", None),
            cascade_entrants()[0],
            cascade_entrants()[1],
            Entrant(ORACLE, "the best factor, known afterwards", None),
        )
    }
)
"""The methods of an evaluation, by name."""


def entrant(name: str) -> Entrant:
    """Return the entrant of this name.

    Raises InvalidInputError where there is none; the message lists the names.
    """
    if name not in ENTRANTS:
        raise InvalidInputError(
            f"no method '{name}'{did_you_mean(name, ENTRANTS)}; there are {', '.join(ENTRANTS)}"
        )
    return ENTRANTS[name]
