"""The criteria that choosing by input is accepted by, each with the number that was reached.

They are those of `METHOD.md`, by the same numbers, and were fixed before anything was measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from coarsen.models.evaluation.bootstrap import Interval
from coarsen.models.inputs.entrants import Entrant
from coarsen.models.inputs.evaluation import Outcome
from coarsen.models.inputs.scores import (
    Score,
    hits,
    is_sensitive,
    kernel_mean,
    low_share,
    mean,
    part_of_gain,
    speed_up,
)
from coarsen.models.trees.arrays import Array

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
        kernels: whose number it is, or which are counted; empty where it is of all.
    """

    number: str
    text: str
    value: float | None
    must: float
    better: float
    interval: Interval | None = None
    is_most: bool = False
    kernels: tuple[str, ...] = ()

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
    found = _counted("3", "kernels whose best version depends on the input", sensitive, 5, 5 if is_gpu else 7)
    return (
        found,
        *_shares(outcomes),
        *_gains(outcomes, sensitive, is_gpu),
        *_hits(outcomes, sensitive),
        *_comparisons(outcomes),
        *_contents(results),
        *_extrapolation(results),
        *_versions(results),
    )


def _shares(outcomes: Sequence[Outcome]) -> Iterator[Criterion]:
    pooled = speed_up(outcomes, Entrant.TREE, Entrant.BEST)
    yield _scored("4a", "share of the best version, all inputs", pooled, 0.95, 0.97)
    lowest = _lowest(outcomes, lambda each: speed_up([each], Entrant.TREE, Entrant.BEST))
    yield _of_kernel("4b", "share of the best version, lowest kernel", lowest, 0.90, 0.93)
    low = low_share(outcomes, Entrant.TREE)
    yield _scored("4c", "share of the best version, 5th percentile of inputs", low, 0.80, 0.88)


def _gains(outcomes: Sequence[Outcome], sensitive: Sequence[Outcome], is_gpu: bool) -> Iterator[Criterion]:
    won = part_of_gain(sensitive, Entrant.TREE)
    yield _scored("5a", "part of the gain by input, sensitive kernels", won, 0.6, 0.8)
    least_won = None if won is None else won.interval.low
    yield Criterion("5b", "part of the gain by input, lower end of the interval", least_won, 0.0, 0.6)
    least = 0.99 if is_gpu else 0.97
    lowest = _lowest(outcomes, lambda each: speed_up([each], Entrant.TREE, Entrant.FIXED))
    yield _of_kernel("6", "speed-up over the fixed best, lowest kernel", lowest, least, 0.99)
    over_default = speed_up(outcomes, Entrant.TREE, Entrant.DEFAULT)
    yield _scored("8a", "speed-up over the source's default, all inputs", over_default, 0.0, 0.0)
    over_fixed = speed_up(outcomes, Entrant.TREE, Entrant.FIXED)
    yield _scored("8b", "speed-up over the fixed best, all inputs", over_fixed, 0.0, 0.0)
    telling = [
        each for each in outcomes if speed_up([each], Entrant.TREE, Entrant.DEFAULT).value >= _WORTH_TELLING
    ]
    yield _counted("8c", "kernels at least 1.5 times as fast as their default", telling, 0, 6)


def _hits(outcomes: Sequence[Outcome], sensitive: Sequence[Outcome]) -> Iterator[Criterion]:
    yield from hit_criteria(outcomes, "7a", "7b", "hits", lambda each: hits(each, Entrant.TREE))

    def above(outcome: Outcome) -> Score:
        return mean([outcome], lambda each: hits(each, Entrant.TREE) - hits(each, Entrant.FIXED))

    lowest = _lowest(sensitive, above)
    yield _of_kernel("7c", "hits beyond the fixed best's, lowest sensitive kernel", lowest, 1e-9, 1e-9)
    exact = kernel_mean(outcomes, lambda each: np.array(each.is_exact[Entrant.TREE], dtype=np.float64))
    yield _scored("7d", "exact hits, mean over kernels", exact, 0.0, 0.0)
    lost = mean(outcomes, lambda each: each.gain(Entrant.BEST, Entrant.TREE))
    yield Criterion("7e", "regret, mean over inputs", lost.value, 1.0, 1.0, lost.interval, is_most=True)


def hit_criteria(
    outcomes: Sequence[Outcome],
    mean_number: str,
    lowest_number: str,
    text: str,
    values: Callable[[Outcome], Array],
) -> Iterator[Criterion]:
    """Yield the mean over kernels and the lowest kernel of some hits.

    Args:
        outcomes: one for each kernel.
        mean_number: of the first criterion; `lowest_number` of the second.
        text: what is counted.
        values: 1 for each input that is hit, else 0.
    """
    yield _scored(mean_number, f"{text}, mean over kernels", kernel_mean(outcomes, values), 0.90, 0.962)
    lowest = _lowest(outcomes, lambda each: mean([each], values))
    yield _of_kernel(lowest_number, f"{text}, lowest kernel", lowest, 0.80, 0.867)


def _lowest(outcomes: Sequence[Outcome], score: Callable[[Outcome], Score]) -> tuple[str, Score] | None:
    """The kernel with the lowest score; None without kernels."""
    scored = [(each.kernel, score(each)) for each in outcomes]
    return min(scored, key=lambda pair: pair[1].value, default=None)


def _of_kernel(number: str, text: str, found: tuple[str, Score] | None, must: float, better: float) -> Criterion:
    if found is None:
        return Criterion(number, text, None, must, better)
    kernel, score = found
    return replace(_scored(number, text, score, must, better), kernels=(kernel,))


def _counted(number: str, text: str, found: Sequence[Outcome], must: float, better: float) -> Criterion:
    return Criterion(number, text, len(found), must, better, kernels=tuple(each.kernel for each in found))


def _comparisons(outcomes: Sequence[Outcome]) -> Iterator[Criterion]:
    for letter, other in zip("abcd", _OTHERS, strict=True):
        found = speed_up(outcomes, Entrant.TREE, other)
        yield _scored(f"9{letter}", f"speed-up over {other}, all inputs", found, 1.0, 1.0)
    paper = speed_up(outcomes, Entrant.TREE, Entrant.PAPER).interval.low
    yield Criterion("9e", "speed-up over paper, lower end of the interval", paper, 0.0, 1.0)


def _contents(results: Sequence[KernelResult]) -> Iterator[Criterion]:
    outcomes = [result.outcome for result in results if result.has_contents]
    for letter, least, must in (("a", _CONTENTS_ADD, 2), ("b", _CONTENTS_ADD_MUCH, 0)):
        found = [each for each in outcomes if contents_add(each) >= least]
        if outcomes:
            text = f"kernels where contents add {least:.0%} of the best version"
            yield _counted(f"13{letter}", text, found, must, 2)


def contents_add(outcome: Outcome) -> float:
    """Return what features of contents add to the share of the best version."""
    entrants = Entrant.TREE, Entrant.TREE_WITHOUT_SUPPLIED
    with_them, without = (speed_up([outcome], each, Entrant.BEST).value for each in entrants)
    return with_them - without


def _extrapolation(results: Sequence[KernelResult]) -> Iterator[Criterion]:
    found = [result.extrapolated for result in results if result.extrapolated is not None]
    if found:
        share = speed_up(found, Entrant.TREE, Entrant.BEST)
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
