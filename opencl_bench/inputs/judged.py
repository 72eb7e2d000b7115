"""Ways to choose a version, judged at inputs that they were not fitted to: each group is left out in turn.

The times are those that the tuning kept, of the versions that a search left. So the best version is the best of
what was tried, and every choice is judged by the times that it was made by.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from coarsen.dispatch.tuned_file import TunedFile
from coarsen.errors import InvalidInputError
from coarsen.models.inputs.entrants import Entrant, Settings
from coarsen.models.inputs.evaluation import Outcome, leave_groups_out, outcome
from coarsen.models.inputs.scores import EntrantScore, entrant_score, geometric_mean
from coarsen.models.trees.arrays import Array
from coarsen.opencl_bench.inputs.cold_changes import cold_changes, cold_lines
from coarsen.opencl_bench.inputs.evidence import Evidence, evidence_of
from coarsen.opencl_bench.inputs.left_open_times import LEFT_OPEN

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
    default, *others = (JudgedRow(name, entrant_score([found], entrant)) for entrant, name in names.items())
    rows = (default, *_left_open(kept, found), *others)
    inputs, groups = len(kept.times.inputs), len(kept.times.groups)
    return Judged(
        rows,
        (
            f"{inputs} inputs of {groups} different sizes, each size left out in turn; {len(kept.times.versions)} "
            f"versions were tried; noise is {kept.margin:.0%}.",
            "Judged by the times that chose: the best of what was tried is no bound that is known for new times.",
            *_left_out(kept),
            *cold_lines(cold_changes(file)),
        ),
    )


def _left_open(kept: Evidence, found: Outcome) -> Iterator[JudgedRow]:
    """Yield the default version with a local size that the driver chooses, where that was measured."""
    seconds = None if kept.left_open is None else kept.left_open.played(kept.times)
    if seconds is not None:
        rows = {point.name: row for row, point in enumerate(kept.times.inputs)}
        ordered = seconds[[rows[point.name] for point in found.inputs]]
        yield JudgedRow(LEFT_OPEN, _baseline_score(found, ordered))


def _baseline_score(found: Outcome, seconds: Array) -> EntrantScore:
    """Return the score of a baseline, which is no entrant, and no version to choose.

    Args:
        found: of the kernel; the baseline takes the default's place in it.
        seconds: the baseline's, at each input of the outcome, (k,).
    """
    in_its_place = replace(
        found,
        seconds={**found.seconds, Entrant.DEFAULT: seconds},
        is_exact={**found.is_exact, Entrant.DEFAULT: (False,) * len(found.inputs)},
    )
    over_default = geometric_mean([found], lambda each: np.log(each.seconds[Entrant.DEFAULT] / seconds))
    return replace(entrant_score([in_its_place], Entrant.DEFAULT), over_default=over_default)


def _left_out(kept: Evidence) -> Iterator[str]:
    """Yield why the baseline was not measured, where it was not."""
    if kept.left_open is not None and kept.left_open.reason:
        yield f"Not measured: {LEFT_OPEN}, since {kept.left_open.reason}."
    if kept.is_cold:
        yield "All times are with flushed caches."
