"""The result of a search."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from coarsen.opencl_bench.search.additivity import Additivity
from coarsen.opencl_bench.search.evaluator import Trial


@dataclass(frozen=True, slots=True)
class Found:
    """Result of a search.

    Attributes:
        best: the fastest of everything tried; None if nothing could run.
        trace: everything tried, in order; its length is the number of trials.
        ending: why the search ended, in a few words.
        notes: what a user should know of how it went, a sentence each.
        additivity: whether the contributions of the independent options add up; None where that was not judged.
    """

    best: Trial | None
    trace: tuple[Trial, ...]
    ending: str
    notes: tuple[str, ...] = ()
    additivity: Additivity | None = None

    def with_trials(self, trace: tuple[Trial, ...]) -> Found:
        """Return the same with everything that was tried, and the fastest of it."""
        return replace(self, best=fastest(trace), trace=trace)


def fastest(trials: Iterable[Trial]) -> Trial | None:
    """Return the first of the fastest trials; None if none has a time."""
    return min((trial for trial in trials if trial.time is not None), key=time_of, default=None)


def time_of(trial: Trial) -> float:
    """Return the time of a trial, infinity for one that failed or was killed: for comparisons alone."""
    return float("inf") if trial.time is None else trial.time
