"""Expectations of choices: of their launches by measurement, of their coarsenings by a prior."""

from __future__ import annotations

import functools
import math
from dataclasses import replace

from coarsen.opencl_bench.search.guided import GuidedSearcher
from coarsen.opencl_bench.search.searcher import Searcher
from coarsen.opencl_bench.search.spaces import VariantSearchSpace
from coarsen.opencl_bench.search.surrogate import Prior
from coarsen.opencl_bench.sweep.live_evaluator import relative_time
from coarsen.opencl_bench.sweep.search_request import VariantPrior
from coarsen.opencl_bench.sweep.selection import Selected


def with_prior(
    searcher: Searcher, prior: VariantPrior | None, space: VariantSearchSpace, selected: Selected
) -> Searcher:
    """Return a guided searcher with what is expected of the choices of a space; any other searcher as it is."""
    if prior is None or not isinstance(searcher, GuidedSearcher):
        return searcher
    return replace(searcher, prior=choice_prior(prior, space, selected))


def choice_prior(prior: VariantPrior, space: VariantSearchSpace, selected: Selected) -> Prior:
    """Return the expected logarithm of choices' times.

    That of a launch uncoarsened was measured; where it did not run, nothing is known of it.

    Args:
        prior: expects the logarithm of a variant's time over that of its own launch uncoarsened.
        space: has the choices.
        selected: the measured launches.
    """
    times = ((row.candidate, relative_time(row)) for row in selected.rows)
    launches = {candidate: math.log(time) for candidate, time in times if time is not None}
    # A time in the evaluator's unit is relative to the baseline's; these rows are relative to the first launch.
    baseline = launches[selected.baseline] if selected.baseline is not None else 0.0

    @functools.cache
    def expected(choice: tuple[int, ...]) -> float:
        variant = space.variant(choice)
        return launches.get(variant.uncoarsened(), baseline) - baseline + prior(variant)

    return expected
