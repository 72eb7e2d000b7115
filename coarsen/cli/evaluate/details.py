"""The choices of each method for each kernel, and the best possible ones."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from coarsen.models.evaluation.entrants import ORACLE
from coarsen.models.evaluation.evaluation import Evaluation
from coarsen.models.evaluation.scores import Outcome, oracle_log_speedup


@dataclass(frozen=True)
class Details:
    """A table: a row for each kernel, a column for each method."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def details(evaluation: Evaluation, device: str) -> Details:
    """Return the factors chosen on a device, with their speed-ups where these are known.

    Of several seeds: the factor chosen most often, with a mark where others were chosen too, and the geometric
    mean of the speed-ups.
    """
    outcomes = {name: found for name, found in evaluation.on(device).items() if name != ORACLE}
    known = {outcome.example.kernel: outcome for found in evaluation.on(device).values() for outcome in found}
    rows = [
        (
            kernel,
            _best(outcome),
            *(_chosen([each for each in found if each.example.kernel == kernel]) for found in outcomes.values()),
        )
        for kernel, outcome in known.items()
    ]
    return Details(("kernel", "best", *outcomes), tuple(rows))


def _best(outcome: Outcome) -> str:
    factor = f"{outcome.example.best_factor}"
    return f"{factor}: {math.exp(oracle_log_speedup(outcome.example)):.2f}" if outcome.is_measured else factor


def _chosen(outcomes: Sequence[Outcome]) -> str:
    if not outcomes:
        return ""
    counts = Counter(outcome.choice.factor for outcome in outcomes)
    factor = min(counts, key=lambda each: (-counts[each], each))
    text = f"{factor}{'~' if len(counts) > 1 else ''}"
    if not outcomes[0].is_measured:
        return text
    mean = sum(outcome.log_speedup for outcome in outcomes) / len(outcomes)
    return f"{text}: {math.exp(mean):.2f}"
