"""The cascade as a method of the evaluation: a model per device and dimension, learned from its examples alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coarsen.models.cascade.model import CascadeModel
from coarsen.models.cascade.network_training import Progress, unobserved
from coarsen.models.cascade.training import FEWEST_EXAMPLES, fit_cascades
from coarsen.models.evaluation.method import Choice, Fit
from coarsen.models.examples import Example

# A device and a dimension.
Place = tuple[str, int]


class Cascade:
    """The published predictor (PACT 2014, section 6).

    It knows nothing of other devices: where it has fewer than `FEWEST_EXAMPLES` examples of a device along the
    dimension in question, it stays at factor 1.

    Args:
        progress: told how far the training of all networks is.
    """

    name = "cascade"

    def __init__(self, progress: Progress = unobserved) -> None:
        self._progress = progress

    def fit(self, training: Sequence[Example], seed: int) -> CascadePredictor:
        """Learn from examples of any devices, each device on its own."""
        return self.fit_many([Fit(tuple(training), seed)])[0]

    def fit_many(self, fits: Sequence[Fit]) -> list[CascadePredictor]:
        """Return the predictors of several fits, with all networks trained as one batch."""
        groups = [_by_place(fit.training) for fit in fits]
        wanted = [
            Fit(examples, fit.seed) for fit, group in zip(fits, groups, strict=True) for examples in group.values()
        ]
        models = iter(fit_cascades(wanted, self._progress))
        return [CascadePredictor({place: next(models) for place in group}) for group in groups]


@dataclass(frozen=True)
class CascadePredictor:
    """A cascade for each device and dimension."""

    models: Mapping[Place, CascadeModel]

    def choose(self, example: Example) -> Choice:
        """Return the factor at which the cascade of the example's device stops."""
        model = self.models.get((example.device, example.dimension))
        if model is None:
            return Choice(1)
        return Choice(
            model.predict(example.table).factor, step_probability=model.step_probabilities(example.table)
        )


def _by_place(examples: Sequence[Example]) -> dict[Place, tuple[Example, ...]]:
    """The examples that each model learns from, where there are enough."""
    groups: defaultdict[Place, list[Example]] = defaultdict(list)
    for example in examples:
        groups[example.device, example.dimension].append(example)
    return {place: tuple(group) for place, group in groups.items() if len(group) >= FEWEST_EXAMPLES}
