"""The criteria that choosing by input is accepted by, each with the number that was reached.

They are those of `METHOD.md`, by the same numbers, and were fixed before anything was measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from coarsen.models.evaluation.bootstrap import Interval
from coarsen.models.inputs.entrants import Entrant
from coarsen.models.inputs.evaluation import Outcome
from coarsen.models.inputs.scores import (
    Score,
    entrant_score,
    is_sensitive,
    part_of_gain,
    speed_up,
)

# What contents must add to the share of the best version for a kernel to count: accepted, and aimed at.
_CONTENTS_ADD, _CONTENTS_ADD_MUCH = 0.03, 0.10
_WORTH_TELLING = 1.5
# What the fastest version is called: of the full grid, and where a search left only some of it.
BEST_OF_ALL, BEST_OF_TRIED = "best version", "best of what was tried"
_OTHERS = (Entrant.FIXED, Entrant.MAJORITY, Entrant.NEAREST, Entrant.PAPER)


@dataclass(frozen=True, slots=True)
class KernelResult:
    """What is known of one kernel on one device.

    Attributes:
        outcome: with one group of inputs held out after the other.
        extrapolated: with the largest inputs held out together; None where that was not done.
        versions: how many are shipped, of all inputs.
        is_adaptive: whether the input decides, of all inputs.
        has_contents: whether the caller supplies features of contents.
        is_control: whether the input must not matter.
        reference: what the fastest version may be called.
    """

    outcome: Outcome
    extrapolated: Outcome | None
    versions: int
    is_adaptive: bool
    has_contents: bool = False
    is_control: bool = False
    reference: str = BEST_OF_ALL


@dataclass(frozen=True, slots=True)
class Criterion:
    """A number that was reached, and what it must be.

    Attributes:
        number: of the criterion, with a letter where it has several parts.
        text: what the number is.
        value: what was reached; None where nothing could be computed.
        must: what is accepted; `better` what is aimed at.
        interval: of the value, 95 %.
        is_most: whether the value may be at most that, rather than at least.
    """

    number: str
    text: str
    value: float | None
    must: float
    better: float
    interval: Interval | None = None
    is_most: bool = False

    @property
    def is_met(self) -> bool:
        """Return True if what was reached is accepted."""
        return self._reaches(self.must)

    @property
    def is_better(self) -> bool:
        """Return True if it is what is aimed at."""
        return self._reaches(self.better)

    def _reaches(self, limit: float) -> bool:
        if self.value is None:
            return False
        return self.value <= limit if self.is_most else self.value >= limit


def criteria(results: Sequence[KernelResult], is_gpu: bool) -> tuple[Criterion, ...]:
    """Return all criteria that the results of one device decide.

    Args:
        results: one for each kernel, at least one.
        is_gpu: what kind of device it is.
    """
    outcomes = [result.outcome for result in results]
    sensitive = [each for each in outcomes if is_sensitive(each)]
    return (
        Criterion("3", "kernels whose best version depends on the input", len(sensitive), 5, 5 if is_gpu else 7),
        *_shares(outcomes),
        *_gains(outcomes, sensitive, is_gpu),
        *_hits(outcomes, sensitive),
        *_comparisons(outcomes),
        *_contents(results),
        *_extrapolation(results),
        *_versions(results),
    )


def _shares(outcomes: Sequence[Outcome]) -> Iterator[Criterion]:
    pooled = entrant_score(outcomes, Entrant.TREE)
    each = [entrant_score([outcome], Entrant.TREE).share.value for outcome in outcomes]
    yield _scored("4a", "share of the best version, all inputs", pooled.share, 0.95, 0.97)
    yield Criterion("4b", "share of the best version, lowest kernel", min(each), 0.90, 0.93)
    yield Criterion("4c", "share of the best version, 5th percentile of inputs", pooled.low_share, 0.80, 0.88)


def _gains(outcomes: Sequence[Outcome], sensitive: Sequence[Outcome], is_gpu: bool) -> Iterator[Criterion]:
    won = part_of_gain(sensitive, Entrant.TREE)
    yield _scored("5a", "part of the gain by input, sensitive kernels", won, 0.6, 0.8)
    least_won = None if won is None else won.interval.low
    yield Criterion("5b", "part of the gain by input, lower end of the interval", least_won, 0.0, 0.6)
    over_fixed = [speed_up([each], Entrant.TREE, Entrant.FIXED).value for each in outcomes]
    least = 0.99 if is_gpu else 0.97
    yield Criterion("6", "speed-up over the fixed best, lowest kernel", min(over_fixed), least, 0.99)
    over_default = [speed_up([each], Entrant.TREE, Entrant.DEFAULT).value for each in outcomes]
    telling = sum(value >= _WORTH_TELLING for value in over_default)
    yield Criterion("8", "kernels at least 1.5 times as fast as their default", telling, 0, 6)


def _hits(outcomes: Sequence[Outcome], sensitive: Sequence[Outcome]) -> Iterator[Criterion]:
    each = [entrant_score([outcome], Entrant.TREE).hits for outcome in outcomes]
    yield Criterion("7a", "hits, mean over kernels", float(np.mean(each)), 0.90, 0.962)
    yield Criterion("7b", "hits, lowest kernel", min(each), 0.80, 0.867)
    above = [
        entrant_score([outcome], Entrant.TREE).hits - entrant_score([outcome], Entrant.FIXED).hits
        for outcome in sensitive
    ]
    more = min(above, default=None)
    yield Criterion("7c", "hits beyond the fixed best's, lowest sensitive kernel", more, 1e-9, 1e-9)


def _comparisons(outcomes: Sequence[Outcome]) -> Iterator[Criterion]:
    for letter, other in zip("abcd", _OTHERS, strict=True):
        found = speed_up(outcomes, Entrant.TREE, other)
        yield _scored(f"9{letter}", f"speed-up over {other}, all inputs", found, 1.0, 1.0)
    paper = speed_up(outcomes, Entrant.TREE, Entrant.PAPER).interval.low
    yield Criterion("9e", "speed-up over paper, lower end of the interval", paper, 1.0, 1.0)


def _contents(results: Sequence[KernelResult]) -> Iterator[Criterion]:
    added = [
        entrant_score([result.outcome], Entrant.TREE).share.value
        - entrant_score([result.outcome], Entrant.TREE_WITHOUT_SUPPLIED).share.value
        for result in results
        if result.has_contents
    ]
    if added:
        some, much = (sum(each >= least for each in added) for least in (_CONTENTS_ADD, _CONTENTS_ADD_MUCH))
        yield Criterion("13a", "kernels where contents add 3 points", some, 2, 2)
        yield Criterion("13b", "kernels where contents add 10 points", much, 0, 2)


def _extrapolation(results: Sequence[KernelResult]) -> Iterator[Criterion]:
    found = [result.extrapolated for result in results if result.extrapolated is not None]
    if found:
        share = entrant_score(found, Entrant.TREE).share
        yield _scored("14", "share of the best version, the largest quarter held out", share, 0.85, 0.92)


def _versions(results: Sequence[KernelResult]) -> Iterator[Criterion]:
    controls = [result for result in results if result.is_control]
    if controls:
        adaptive = sum(result.is_adaptive for result in controls)
        yield Criterion("16", "controls for which the input decides", adaptive, 0, 0, is_most=True)
    versions = [result.versions for result in results]
    yield Criterion("17a", "versions shipped, most of a kernel", max(versions), 8, 8, is_most=True)
    yield Criterion("17b", "versions shipped, median", float(np.median(versions)), 8, 5, is_most=True)


def _scored(number: str, text: str, score: Score | None, must: float, better: float) -> Criterion:
    if score is None:
        return Criterion(number, text, None, must, better)
    return Criterion(number, text, score.value, must, better, score.interval)
