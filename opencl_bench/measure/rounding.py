"""Bound on the difference of two right results of the same floating-point computation.

Each of `k` rounded operations, one after the other, changes a partial result by at most the unit roundoff `u` of
its type, so that the relative error of a sum of terms of one sign is at most γ_k = k·u / (1 − k·u) (Higham,
Accuracy and Stability of Numerical Algorithms, 2nd edition, SIAM 2002, section 3.1). That is the worst case: as
rounding errors have either sign, γ_k becomes λ·√k·u with a probability of at least 1 − 2·exp(−λ²/2) (Higham and
Mary, A New Approach to Probabilistic Rounding Error Analysis, SIAM J. Sci. Comput. 41(5), 2019, theorem 2.4). Two
results are compared, both of them rounded, hence twice the bound. A contracted multiply-add, or a sum in another
order, is nothing else: it saves roundings or permutes them.

The bound is relative to the partial results. Where terms cancel, the result is much smaller than those, and a
bound relative to the result would call its rounding an error. The partial results themselves are gone. But what
cancels in one element of an output seldom does in the others: the median magnitude of its elements that were
written and are neither zero nor infinite stands for them. So

    |got − wanted| ≤ tolerance · (|wanted| + median |wanted|),   tolerance = 2·λ·√k·u, at most a tenth
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array

# λ: more than one element in 3·10⁷ is not beyond the bound of a result.
DEVIATIONS = 6.0

# With more, a comparison would find no mistake.
_LARGEST = 0.1

# The median of so many elements, spread evenly, is near enough to that of all.
_SAMPLED = 1 << 16


def rounding_tolerance(steps: int, kind: np.dtype[np.floating[Any]]) -> float:
    """Return the relative difference that rounding explains.

    Args:
        steps: rounded operations one after the other on the way to an element.
        kind: the floating-point type of the elements.
    """
    unit_roundoff = float(np.finfo(kind).eps) / 2
    return min(2 * DEVIATIONS * math.sqrt(steps) * unit_roundoff, _LARGEST)


def typical_magnitude(wanted: Array, before: Array | None = None) -> float:
    """Return the median magnitude of the elements that are finite and not zero; 0 if there are none.

    Args:
        wanted: the elements.
        before: what was in their place before the launch, if that is known: elements that are as they were say
            nothing of what is computed, and do not count where others do.
    """
    every = slice(None, None, max(1, wanted.size // _SAMPLED))
    sample = wanted.reshape(-1)[every]
    magnitudes = np.abs(sample.astype(np.float64))
    counting = np.isfinite(magnitudes) & (magnitudes > 0)
    if before is not None:
        written = counting & (sample != before.reshape(-1)[every])
        counting = written if written.any() else counting
    return float(np.median(magnitudes[counting])) if counting.any() else 0.0
