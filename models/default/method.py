"""The default model as the evaluation takes it: a method that is fitted on examples, a predictor that chooses."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from coarsen.models.default.model import NAME, DefaultModel
from coarsen.models.default.training import Fitted, ForestSettings, fit_forest, with_adjustments
from coarsen.models.default.training_rows import Curve, curve_of, descriptor_of
from coarsen.models.evaluation.method import Choice, Fit
from coarsen.models.examples import Example


@dataclass(frozen=True)
class DefaultPredictor:
    """A fitted model that chooses factors."""

    model: DefaultModel

    def choose(self, example: Example) -> Choice:
        """Return the factor for an example, whose answer is not looked at.

        Raises:
            InvalidInputError: there is no descriptor of its device, or a factor has no features.
        """
        prediction = self.model.predict(example.table, example.mechanism, descriptor_of(example.device))
        return Choice(prediction.factor, prediction.abstained, prediction.step_probability)


@dataclass(frozen=True)
class IgnorantPredictor:
    """What is left where there was no curve to learn from: it abstains from everything."""

    def choose(self, example: Example) -> Choice:
        """Factor 1."""
        return Choice(1, abstained=True)


FittedPredictor = DefaultPredictor | IgnorantPredictor


@dataclass(frozen=True)
class Wanted:
    """One fit: its curves, and its seed."""

    curves: tuple[Curve, ...]
    seed: int

    @property
    def forest(self) -> tuple[int, ...]:
        """Return what the forest follows from: the seed and the measured curves.

        The others count for adjustments.
        """
        return (self.seed, *(id(curve) for curve in self.curves if curve.is_known))

    @property
    def is_possible(self) -> bool:
        """Return True if curves of two unrelated kernels are there."""
        return len({curve.example.family for curve in self.curves if curve.is_known}) > 1


@dataclass(frozen=True)
class Default:
    """The default model's fitting, on all training examples of all devices; `threads` grow its trees."""

    settings: ForestSettings = field(default_factory=ForestSettings)
    threads: int = field(default_factory=lambda: len(os.sched_getaffinity(0)))

    @property
    def name(self) -> str:
        """Return what the command line calls it."""
        return NAME

    def fit(self, training: Sequence[Example], seed: int) -> FittedPredictor:
        """Learn from examples of any devices; without curves of two unrelated kernels it knows nothing.

        Examples in another order may give another forest, as another seed does: where two splits are equally good,
        the last bits of sums decide, which depend on the order.
        """
        return next(self.fit_many([Fit(tuple(training), seed)]))

    def fit_many(self, fits: Sequence[Fit]) -> Iterator[FittedPredictor]:
        """Yield the predictors of several fits, one after the other.

        An example's inputs are computed once, and a forest is grown once where fits differ in nothing but the best
        factors of devices that were not measured.
        """
        examples = {id(example): example for fit in fits for example in fit.training}
        curves = {key: curve_of(example) for key, example in examples.items()}
        wanted = [Wanted(tuple(curves[id(example)] for example in fit.training), fit.seed) for fit in fits]
        left, forests = Counter(each.forest for each in wanted), dict[tuple[int, ...], Fitted]()
        for each in wanted:
            yield self._predictor(each, forests)
            left[each.forest] -= 1
            if not left[each.forest]:
                forests.pop(each.forest, None)

    def _predictor(self, wanted: Wanted, forests: dict[tuple[int, ...], Fitted]) -> FittedPredictor:
        if not wanted.is_possible:
            return IgnorantPredictor()
        if wanted.forest not in forests:
            forests[wanted.forest] = fit_forest(wanted.curves, wanted.seed, self.settings, self.threads)
        return DefaultPredictor(with_adjustments(forests[wanted.forest], wanted.curves).model)
