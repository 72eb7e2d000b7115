"""What came of a choice: the factor that ran, and the speed-up that it gave.

A launcher never fails on a factor that can't run: it takes the largest smaller one that can, 1 at the least. So
does the evaluation. A configuration that the measuring gave up, because it took more than ten times the best so
far, has no duration; it counts as `GIVEN_UP_SPEEDUP`, a loss as large as what is known of it. An oracle never
chooses it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from coarsen.models.evaluation.method import Choice
from coarsen.models.examples import Example

GIVEN_UP_SPEEDUP = 0.1


@dataclass(frozen=True)
class Outcome:
    """One choice for a held-out kernel; `example` has the answer, `seed` is that of the fit."""

    example: Example
    seed: int
    choice: Choice

    @property
    def ran(self) -> int:
        """The factor that ran."""
        return factor_that_runs(self.example, self.choice.factor)

    @property
    def fell_back(self) -> bool:
        """Return True if the chosen factor can't run."""
        return self.is_measured and self.ran != self.choice.factor

    @property
    def was_given_up(self) -> bool:
        """Return True if what ran was given up when it was measured."""
        return self.example.speedup.get(self.ran, 1.0) == GIVEN_UP_SPEEDUP

    @property
    def is_measured(self) -> bool:
        """Return True if more than the best factor is known."""
        return bool(self.example.speedup)

    @property
    def log_speedup(self) -> float:
        """The natural logarithm of the speed-up of what ran over the uncoarsened kernel."""
        return self.example.log_speedup(self.ran)

    @property
    def log2_error(self) -> float:
        """By how many doublings the choice is off the best factor; above 0 where it is too large."""
        return math.log2(self.choice.factor / self.example.best_factor)


def factor_that_runs(example: Example, factor: int) -> int:
    """Return the largest factor up to this one that was measured, 1 at the least."""
    return max((known for known in example.speedup if known <= factor), default=1)


def log_speedup_of(example: Example, factor: int) -> float:
    """Return the natural logarithm of the speed-up that asking for a factor gives."""
    return example.log_speedup(factor_that_runs(example, factor))


def oracle_log_speedup(example: Example) -> float:
    """Return the natural logarithm of the largest speed-up that any factor gives, 0 at the least."""
    return max((0.0, *map(example.log_speedup, example.speedup)))
