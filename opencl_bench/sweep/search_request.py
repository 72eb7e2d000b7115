"""The request of a search over the variants of a space, and its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from coarsen.opencl_bench.search.evaluator import Budget
from coarsen.opencl_bench.search.searcher import Found, Searcher
from coarsen.variant.variant import Variant

# Expects the logarithm of a variant's time over that of its own launch uncoarsened.
VariantPrior = Callable[[Variant], float]


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """The way to search a space.

    Attributes:
        searcher: asks for configurations.
        budget: what it may try; what the baseline is selected from, and confirmations, count for nothing.
        seed: of the searcher.
        prior: what is expected of variants, for a guided search; None: nothing.
    """

    searcher: Searcher
    budget: Budget
    seed: int = 0
    prior: VariantPrior | None = None


@dataclass(frozen=True, slots=True)
class Searched:
    """The result of a search over the variants of a space.

    Attributes:
        searcher: its name.
        found: what it found; its times are relative to the baseline's.
        best: the fastest variant before any is confirmed; None if nothing could run.
        choices: how many configurations may be tried; None where the space is too large to be counted.
    """

    searcher: str
    found: Found
    best: Variant | None
    choices: int | None

    @property
    def tried(self) -> int:
        """The number of configurations tried, failed ones too."""
        return len(self.found.trace)

    @property
    def failed(self) -> int:
        """The number of those that have no time."""
        return sum(trial.time is None for trial in self.found.trace)

    @property
    def share(self) -> float | None:
        """The share of the configurations that was tried; None where these are not counted."""
        return self.tried / self.choices if self.choices else None
