"""Chosen factors of a device beside the best ones: geometric means over kernels, by dimension."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from coarsen.opencl_bench.reporting.page.content import Choice, Report

# What is less than this on a CPU may be noise (`opencl_bench/data/README.md`).
_CLEAR_LOSS = 1 / 1.05


@dataclass(frozen=True, slots=True)
class ChoiceSummary:
    """The geometric means of a place's choices and of the best factors, over the kernels that have both.

    `losses` of the choices are slower than no coarsening by more than 5 %; `without` have no choice or no time.
    The means are NaN where `kernels` is 0.
    """

    place: str
    dimension: int
    kernels: int
    chosen: float
    best: float
    losses: int
    without: int


def choice_summaries(report: Report) -> tuple[ChoiceSummary, ...]:
    """One for each place and dimension that has a launch to choose for, in the places' order."""
    groups: dict[tuple[str, int], list[Choice]] = {}
    for choice in (choice for kernel in report.kernels for choice in kernel.choices):
        groups.setdefault((choice.place, choice.dimension), []).append(choice)
    order = {place.slug: index for index, place in enumerate(report.places)}
    ordered = sorted(groups, key=lambda group: (order[group[0]], group[1]))
    return tuple(_summary(*group, groups[group]) for group in ordered)


def _summary(place: str, dimension: int, choices: Sequence[Choice]) -> ChoiceSummary:
    known = [(choice.speedup.ratio, choice.best_speedup.ratio) for choice in choices if choice.speedup is not None]
    return ChoiceSummary(
        place=place,
        dimension=dimension,
        kernels=len(known),
        chosen=_geometric_mean(chosen for chosen, _ in known),
        best=_geometric_mean(best for _, best in known),
        losses=sum(chosen < _CLEAR_LOSS for chosen, _ in known),
        without=len(choices) - len(known),
    )


def _geometric_mean(ratios: Iterable[float]) -> float:
    logarithms = [math.log(ratio) for ratio in ratios]
    return math.exp(math.fsum(logarithms) / len(logarithms)) if logarithms else math.nan
