"""Additive predictions: a base's time and what each value of each independent axis adds to it.

    P(C_P) = T(C_B) + Σ_{d ∈ D_I} (T(C_{S,d}) − T(C_B))        (Weber et al. 2015, equation 7)

Values whose support failed, was killed or is missing are in no prediction.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from coarsen.opencl_bench.search.additive_plan import Support
from coarsen.opencl_bench.search.best_sums import Terms, ascending_sums
from coarsen.opencl_bench.search.spaces import Choice, SearchSpace


@dataclass(frozen=True, slots=True)
class AdditiveModel:
    """The predictions from one base, for all choices with its shared values.

    Attributes:
        base: where the terms are 0.
        level: the base's time, or its logarithm.
        terms: what each index adds to it, one mapping for each axis; what is not there can't be predicted.
        is_log: whether logarithms of times are added up, so that options multiply.
    """

    base: Choice
    level: float
    terms: tuple[Terms, ...]
    is_log: bool = False

    def predicts(self, choice: Choice) -> bool:
        """Return True if there is a term for each value of a choice."""
        return all(index in terms for index, terms in zip(choice, self.terms, strict=True))

    def predicted(self, choice: Choice) -> float:
        """Return the predicted time of a choice, in the unit of the trials; a linear one may be below 0."""
        return self._time(self.level + sum(terms[i] for i, terms in zip(choice, self.terms, strict=True)))

    def ranked(self) -> Iterator[tuple[float, Choice]]:
        """Enumerate what this predicts, the least time first."""
        return ((self._time(self.level + total), choice) for total, choice in ascending_sums(self.terms))

    def _time(self, level: float) -> float:
        return math.exp(level) if self.is_log else level


def fitted(
    space: SearchSpace, base: Choice, supports: Iterable[Support], times: Mapping[Choice, float], is_log: bool
) -> AdditiveModel:
    """Fit the model of a base to what was measured.

    Args:
        space: has the axes.
        base: one that has a time.
        supports: its supports; those without two times are left out.
        times: of whatever ended correctly, above 0.
        is_log: whether logarithms of times are added up.
    """
    level = {choice: math.log(time) for choice, time in times.items()} if is_log else times
    terms: list[dict[int, float]] = [{index: 0.0} for index in base]
    for support in supports:
        if support.before in level and support.after in level:
            terms[support.place][support.index] = level[support.after] - level[support.before]
    return AdditiveModel(base, level[base], tuple(terms), is_log)


def ranked(models: Sequence[AdditiveModel]) -> Iterator[tuple[float, Choice]]:
    """Enumerate what several models predict, the least time first; their bases differ in shared values."""
    return heapq.merge(*(model.ranked() for model in models))


def model_of(models: Iterable[AdditiveModel], choice: Choice) -> AdditiveModel | None:
    """Return the model that predicts a choice; None where none does."""
    return next((model for model in models if model.predicts(choice)), None)
