"""What came of an evaluation as data, for tables, files and the evidence in a tuned file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coarsen.dispatch.tuned_file import JSON
from coarsen.models.inputs.acceptance import Criterion, KernelResult, criteria
from coarsen.models.inputs.entrants import Entrant
from coarsen.models.inputs.evaluation import Outcome
from coarsen.models.inputs.scores import EntrantScore, Score, entrant_score, is_sensitive, sensitivity

ALL_KERNELS = "all kernels"


@dataclass(frozen=True, slots=True)
class EntrantRow:
    """A line of the table of entrants.

    Attributes:
        kernel: its name, or that it is of all kernels.
        entrant: whose choices.
        score: of them.
    """

    kernel: str
    entrant: Entrant
    score: EntrantScore

    def to_data(self) -> dict[str, JSON]:
        """Return it as data."""
        return {
            "kernel": self.kernel,
            "entrant": self.entrant.value,
            "share_of_best": _score(self.score.share),
            "share_5th_percentile": self.score.low_share,
            "regret": self.score.regret,
            "hits": _score(self.score.hits),
            "exact_hits": _score(self.score.exact_hits),
            "over_default": _score(self.score.over_default),
            "over_fixed": _score(self.score.over_fixed),
        }


def entrant_rows(results: Sequence[KernelResult]) -> tuple[EntrantRow, ...]:
    """Return the scores of all entrants: on each kernel, then over all of them.

    Args:
        results: one for each kernel, at least one.
    """
    outcomes = [result.outcome for result in results]
    groups: list[tuple[str, list[Outcome]]] = [(each.kernel, [each]) for each in outcomes]
    return tuple(
        EntrantRow(kernel, entrant, entrant_score(own, entrant))
        for kernel, own in (*groups, (ALL_KERNELS, outcomes))
        for entrant in Entrant
    )


def results_data(results: Sequence[KernelResult], is_gpu: bool) -> dict[str, JSON]:
    """Return everything that is told of an evaluation on one device.

    Args:
        results: one for each kernel, at least one.
        is_gpu: what kind of device it is.
    """
    return {
        "criteria": [_criterion(each) for each in criteria(results, is_gpu)],
        "kernels": [_kernel(each) for each in results],
        "entrants": [row.to_data() for row in entrant_rows(results)],
    }


def _kernel(result: KernelResult) -> dict[str, JSON]:
    outcome = result.outcome
    return {
        "kernel": outcome.kernel,
        "inputs": len(outcome.inputs),
        "groups": len({point.group for point in outcome.inputs}),
        "is_control": result.is_control,
        "reference": result.reference,
        "sensitivity": _score(sensitivity([outcome])),
        "is_sensitive": is_sensitive(outcome),
        "is_adaptive": result.is_adaptive,
        "versions": result.versions,
        "vectors_never_built": sum(outcome.unbuilt),
    }


def _criterion(criterion: Criterion) -> dict[str, JSON]:
    interval = criterion.interval
    return {
        "criterion": criterion.number,
        "what": criterion.text,
        "value": criterion.value,
        "interval": None if interval is None else [interval.low, interval.high],
        "must": criterion.must,
        "aim": criterion.better,
        "kernels": list(criterion.kernels),
        "is_met": criterion.is_met,
        "is_better": criterion.is_better,
    }


def _score(score: Score) -> dict[str, JSON]:
    return {"value": score.value, "low": score.interval.low, "high": score.interval.high}
