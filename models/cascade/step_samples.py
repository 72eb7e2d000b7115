"""From examples to what the network of the cascade learns from.

The question at factor f (PACT 2014, section 6): does the next step, to 2f, help? One network is asked at every
factor. It learns from five samples of each kernel: further below the best factor, stop at it and beyond it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coarsen.models.cascade.step_inputs import STEP_FACTORS, Array, step_inputs
from coarsen.models.examples import Example


@dataclass(frozen=True)
class StepSamples:
    """The samples of all steps: `inputs` (n, 34), and `further` (n,), whether a larger factor is best."""

    inputs: Array
    further: NDArray[np.bool_]


def step_target(example: Example, factor: int) -> bool | None:
    """Return True if the step from a factor to twice that helps; None where the example does not say.

    Where runtimes are known, 2f has to be faster than f; where f ran and 2f could not, the answer is no. Where the
    best factor alone is known (table 5), nothing is known beyond it.
    """
    if not example.speedup:
        return None if factor > example.best_factor else factor < example.best_factor
    known = {1: 1.0, **example.speedup}
    if factor not in known:
        return None
    return known.get(2 * factor, 0.0) > known[factor]


def step_samples(examples: Sequence[Example]) -> StepSamples:
    """Return five samples of each example. Raises InvalidInputError where a table lacks a factor."""
    answers = [factor < example.best_factor for example in examples for factor in STEP_FACTORS]
    return StepSamples(all_inputs(examples), np.array(answers, dtype=bool))


def all_inputs(examples: Sequence[Example]) -> Array:
    """Return the inputs of every step of every example, of shape (5 examples, 34). Raises as `step_samples`."""
    return np.stack([step_inputs(example.table, factor) for example in examples for factor in STEP_FACTORS])
