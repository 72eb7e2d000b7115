"""Small evaluations with known outcomes for the tests of the predictors' figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from coarsen.features import FACTORS, Features, FeatureTable
from coarsen.models.evaluation.evaluation import Evaluation
from coarsen.models.evaluation.scores import Outcome
from coarsen.models.examples import Example, best_factor_of, family_of


def example(
    kernel: str, device: str = "fermi", speedup: Mapping[int, float] | None = None, best: int = 1, seed: int = 0
) -> Example:
    """An example with arbitrary features that differ from kernel to kernel and from factor to factor."""
    generator = np.random.default_rng([seed, *kernel.encode()])
    rows = {factor: Features(*generator.uniform(1, 9, 17)) for factor in FACTORS}
    return Example(
        kernel=kernel,
        family=family_of(kernel),
        device=device,
        dimension=0,
        local_size=None,
        speedup=speedup or {},
        best_factor=best_factor_of(speedup) if speedup else best,
        table=FeatureTable(kernel, 0, rows),
    )


def small_evaluation() -> Evaluation:
    """Two kernels on a measured device, one on a device of which the best factor alone is known."""
    examples = (
        example("mt", speedup={2: 2.0, 4: 4.0, 8: 1.0}),
        example("nbody", speedup={2: 0.5, 4: 0.25}),
        example("mt", device="tahiti", best=8),
    )
    chosen = {
        "never": ([1], [1], [1]),
        "cascade": ([2, 4, 2], [2, 2, 2], [4, 4, 4]),
        "oracle": ([4], [1], [8]),
    }
    return Evaluation({method: _outcomes(examples, factors) for method, factors in chosen.items()})


def _outcomes(examples: Sequence[Example], chosen: Sequence[Sequence[int]]) -> tuple[Outcome, ...]:
    """Those of the factors that were chosen for each example, one for each seed."""
    return tuple(
        Outcome(each, seed, factor)
        for each, factors in zip(examples, chosen, strict=True)
        for seed, factor in enumerate(factors)
    )
