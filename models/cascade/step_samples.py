"""From examples to what each network of the cascade learns from.

The question at factor f (PACT 2014, section 6): does the next step, to 2f, help?

- **Runtimes known.** Further where 2f is faster than f, stop where it is not; asked at every factor that ran, also
  beyond the best one. Where f ran and 2f could not, the answer is stop: a kernel that cannot take the step is best
  left where it is. A factor that could not run is no example.
- **Only the best factor b known** (table 5): further below b, stop at b. Beyond b nothing is known, and so those
  steps have no example of this kernel.

One network that is asked at every factor learns from all of them together (`repeated_samples`): further below the
best factor, stop at it and beyond it, five samples of each kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coarsen.features import FEATURE_SET_VERSION
from coarsen.models.cascade.step_inputs import INPUT_COUNT, STEP_FACTORS, Array, step_inputs
from coarsen.models.examples import Example


@dataclass(frozen=True)
class StepSamples:
    """What is known of one step: `inputs` (n, 34), and `further` (n,), whether the next factor is better.

    `factor` is None where the samples are of the steps at all factors.
    """

    factor: int | None
    inputs: Array
    further: NDArray[np.bool_]


def step_target(example: Example, factor: int) -> bool | None:
    """Return True if the step from a factor to twice that helps; None where the example does not say."""
    if not example.speedup:
        return None if factor > example.best_factor else factor < example.best_factor
    known = {1: 1.0, **example.speedup}
    if factor not in known:
        return None
    return known.get(2 * factor, 0.0) > known[factor]


def step_samples(examples: Sequence[Example], factor: int, version: int = FEATURE_SET_VERSION) -> StepSamples:
    """Return what the examples say about the step at a factor.

    Args:
        examples: of one device.
        factor: the step's.
        version: of the features.

    Raises:
        InvalidInputError: an example has no features of the version, or its table lacks the factor or its double.
    """
    answers = [(example, step_target(example, factor)) for example in examples]
    known = [
        (step_inputs(example.features(version), factor), answer)
        for example, answer in answers
        if answer is not None
    ]
    inputs = np.array([row for row, _ in known]).reshape(len(known), INPUT_COUNT)
    return StepSamples(factor, inputs, np.array([answer for _, answer in known], dtype=bool))


def repeated_samples(examples: Sequence[Example], version: int = FEATURE_SET_VERSION) -> StepSamples:
    """Return the samples of one network for all factors: five of each example. Raises as `step_samples` does."""
    answers = [factor < example.best_factor for example in examples for factor in STEP_FACTORS]
    return StepSamples(None, all_inputs(examples, version), np.array(answers, dtype=bool))


def all_inputs(examples: Sequence[Example], version: int = FEATURE_SET_VERSION) -> Array:
    """Return the inputs of every step of every example, of shape (5 examples, 34).

    Raises as `step_samples` does.
    """
    tables = [example.features(version) for example in examples]
    return np.stack([step_inputs(table, factor) for table in tables for factor in STEP_FACTORS])
