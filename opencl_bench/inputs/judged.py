"""Ways to choose a version, judged at inputs that they were not fitted to: each group is left out in turn.

The times are those that the tuning kept, of the versions that a search left. So the best version is the best of
what was tried, and every choice is judged by the times that it was made by.
"""

from __future__ import annotations

from dataclasses import dataclass

from coarsen.dispatch.tuned_file import TunedFile
from coarsen.errors import InvalidInputError
from coarsen.models.inputs.entrants import Entrant, Settings
from coarsen.models.inputs.evaluation import leave_groups_out, outcome
from coarsen.models.inputs.scores import EntrantScore, entrant_score
from coarsen.opencl_bench.inputs.evidence import evidence_of

_NAMES = {
    Entrant.DEFAULT: "the default version",
    Entrant.FIXED: "fixed best: the least mean regret",
    Entrant.MAJORITY: "majority: the best most often",
    Entrant.NEAREST: "nearest: that of the nearest input",
    Entrant.PAPER: "trees of the paper",
    Entrant.TREE: "regret tree",
    Entrant.TREE_WITHOUT_SUPPLIED: "regret tree without supplied features",
    Entrant.BEST: "best of what was tried",
}


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """A way to choose, and what it reaches."""

    name: str
    score: EntrantScore

    @property
    def cells(self) -> list[str]:
        """Its numbers as texts: share of the best with its interval, lowest, hits, over default and fixed best."""
        share = self.score.share
        return [
            f"{share.value:.3f} ({share.interval.low:.3f}–{share.interval.high:.3f})",
            f"{self.score.low_share:.3f}",
            f"{self.score.hits.value:.0%}",
            f"{self.score.over_default.value:.3f}",
            f"{self.score.over_fixed.value:.3f}",
        ]


@dataclass(frozen=True, slots=True)
class Judged:
    """A table of ways to choose, and what must be said of it."""

    rows: tuple[JudgedRow, ...]
    notes: tuple[str, ...]


def judged(file: TunedFile) -> Judged:
    """Judge the ways to choose a version.

    Args:
        file: keeps the times of its tuning.

    Raises:
        InvalidInputError: it keeps none, or inputs of less than two groups.
    """
    kept = evidence_of(file)
    supplied = {feature.name for feature in file.features if feature.is_supplied}
    if len(kept.times.groups) < 2:
        raise InvalidInputError("leaving inputs out takes at least two of different sizes: tune over more")
    choices = leave_groups_out(kept.times, Settings(kept.margin, supplied))
    found = outcome(file.kernel, kept.times, choices, kept.times.played, kept.margin)
    names = {
        entrant: name
        for entrant, name in _NAMES.items()
        if supplied or entrant is not Entrant.TREE_WITHOUT_SUPPLIED
    }
    rows = tuple(JudgedRow(name, entrant_score([found], entrant)) for entrant, name in names.items())
    inputs, groups = len(kept.times.inputs), len(kept.times.groups)
    return Judged(
        rows,
        (
            f"{inputs} inputs of {groups} different sizes, each size left out in turn; {len(kept.times.versions)} "
            f"versions were tried; noise is {kept.margin:.0%}.",
            "Judged by the times that chose: the best of what was tried is no bound that is known for new times.",
        ),
    )
