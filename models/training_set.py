"""From feature tables and best factors to what each network of the cascade learns from.

Targets (PACT 2014, section 6): a kernel whose best factor is b says "coarsen further" at every factor below b
and "stop" at b. Beyond b nothing is known from best factors alone, so those steps have no example of it.

Folds: each kernel is held out once, together with its family; mt and mtLocal are both matrix transposes and
so are one family. All kernels are coarsened along dimension 0: it is the one dimension that all of them have,
and the paper coarsens one dimension.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from coarsen.errors import InvalidInputError
from coarsen.features import FeatureTable

from .step_inputs import Array, step_inputs

DIMENSION = 0
_FAMILIES: Mapping[str, str] = {"mtLocal": "mt"}


@dataclass(frozen=True)
class StepExamples:
    """What is known of one step.

    `inputs` (n, 34) are those of all training kernels; `decided` tells which of them have a target, `targets`
    (m,) is 1 where coarsening further is better, 0 where it is not.
    """

    factor: int
    inputs: Array
    decided: tuple[int, ...]
    targets: Array


@dataclass(frozen=True)
class Fold:
    """Kernels that are held out together, and those that a model may learn from meanwhile."""

    held_out: tuple[str, ...]
    training: tuple[str, ...]


@dataclass(frozen=True)
class TrainingSet:
    """Feature tables and best factors of the same kernels, in the kernels' alphabetical order."""

    tables: Mapping[str, FeatureTable]
    best: Mapping[str, int]

    @property
    def kernels(self) -> tuple[str, ...]:
        """The kernels' names."""
        return tuple(self.best)

    def examples(self, kernels: Sequence[str], factor: int) -> StepExamples:
        """What some of the kernels say about one step."""
        inputs = np.stack([step_inputs(self.tables[kernel], factor) for kernel in kernels])
        decided = tuple(index for index, kernel in enumerate(kernels) if self.best[kernel] >= factor)
        targets = np.array([float(self.best[kernels[index]] > factor) for index in decided])
        return StepExamples(factor, inputs, decided, targets)

    def folds(self) -> tuple[Fold, ...]:
        """Leave one family out: every kernel is held out exactly once."""
        families = dict.fromkeys(family_of(kernel) for kernel in self.kernels)
        return tuple(
            Fold(
                held_out=tuple(kernel for kernel in self.kernels if family_of(kernel) == family),
                training=tuple(kernel for kernel in self.kernels if family_of(kernel) != family),
            )
            for family in families
        )


def training_set(tables: Mapping[str, FeatureTable], best: Mapping[str, int]) -> TrainingSet:
    """Bring tables and best factors together.

    Raises:
        InvalidInputError: a kernel with a best factor has no features, a table is along another dimension
            than 0, or there are fewer than two families.
    """
    kernels = sorted(best)
    missing = [kernel for kernel in kernels if kernel not in tables]
    if missing:
        raise InvalidInputError(f"no features for the kernels {', '.join(missing)}")
    if any(tables[kernel].dimension != DIMENSION for kernel in kernels):
        raise InvalidInputError(f"the models are trained on features along dimension {DIMENSION}")
    if len({family_of(kernel) for kernel in kernels}) < 2:
        raise InvalidInputError("leaving one kernel out needs at least two kernels that are not related")
    return TrainingSet(
        tables={kernel: tables[kernel] for kernel in kernels},
        best={kernel: best[kernel] for kernel in kernels},
    )


def family_of(kernel: str) -> str:
    """The name that related kernels share."""
    return _FAMILIES.get(kernel, kernel)
