"""Check the additive law: times predicted from one base and its supports, against those held out.

P(C) = T(C_B) + Σ (T(C_S) − T(C_B))          Weber et al. 2015, equation 7
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from coarsen.opencl_bench.search.additive_model import fitted
from coarsen.opencl_bench.search.additive_plan import supports_of
from coarsen.opencl_bench.search.additivity import Additivity, judged
from coarsen.opencl_bench.search.tables import Table


@dataclass(frozen=True, slots=True)
class Law:
    """How well the law holds over several parts of a space.

    Attributes:
        parts: how many were judged.
        r_squared: the median of the shares of variance that were predicted; None where no part has one.
        error: the median of the root mean square of relative errors.
    """

    parts: int
    r_squared: float | None
    error: float

    def __str__(self) -> str:
        share = "–" if self.r_squared is None else f"{self.r_squared:.2f}"
        return f"{share}, {self.error:.1%} ({self.parts})"


def held_out(part: Table) -> Additivity | None:
    """Judge the prediction of all choices that are neither the base nor a support; None where there are none.

    Args:
        part: all of whose axes count as independent; the first value of each makes the base.
    """
    base = (0,) * len(part.space.axes)
    times = {choice: trial.time for choice, trial in part.trials.items() if trial.time is not None}
    if base not in times:
        return None
    supports = list(supports_of(part.space, base, relays=False))
    model = fitted(part.space, base, supports, times, is_log=False)
    known = {base, *(support.after for support in supports)}
    both = [
        (model.predicted(choice), time)
        for choice, time in times.items()
        if choice not in known and model.predicts(choice)
    ]
    return judged([predicted for predicted, _ in both], [measured for _, measured in both])


def law_over(parts: Iterable[Table]) -> Law | None:
    """Return how well the law holds over parts of a space; None where nothing can be held out in any."""
    found = [judgement for judgement in map(held_out, parts) if judgement is not None]
    if not found:
        return None
    shares = [each.r_squared for each in found if each.r_squared is not None]
    r_squared = statistics.median(shares) if shares else None
    return Law(len(found), r_squared, statistics.median(each.error for each in found))
