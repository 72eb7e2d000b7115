"""Output of evaluations of launches: a table of entrants for each device, and the error of probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from coarsen.cli.output import print_line, print_table
from coarsen.models.launch.evaluation import (
    Judgement,
    LaunchOutcome,
    LaunchScore,
    Promise,
    launch_scores,
    promise_score,
)

_HEADINGS = ["entrant", "cases", "over best uncoarsened", "over own", "of oracle", "95 %", "<0.95", "worst"]


def print_judgement(judgement: Judgement) -> None:
    """Print the scores of all entrants on each device."""
    for device, outcomes in by_device(judgement).items():
        print_line(f"{device}:")
        rows = [_row(name, score) for name, score in launch_scores(outcomes).items()]
        print_table(_HEADINGS, rows, numbers=_HEADINGS[1:5])
        found = promise_score([each for each in judgement.promises if each.device == device])
        if found is not None:
            print_line(
                f"Probabilities that the most promising coarsening beats every uncoarsened launch are off by "
                f"{found.calibration_error:.3f} on average, where right ones would be by {found.least_error:.3f} "
                f"(Brier score {found.brier:.3f}, {found.promises} cases)"
            )
        print_line()


def judgement_as_data(judgement: Judgement) -> dict[str, object]:
    """Return the scores for JSON, by device and entrant."""
    return {
        "devices": {
            device: {
                "entrants": {name: asdict(score) for name, score in launch_scores(outcomes).items()},
                "calibration": _promises([each for each in judgement.promises if each.device == device]),
            }
            for device, outcomes in by_device(judgement).items()
        }
    }


def by_device(judgement: Judgement) -> Mapping[str, list[LaunchOutcome]]:
    """Return the outcomes on each device, in the order of the data."""
    found: dict[str, list[LaunchOutcome]] = {}
    for outcome in judgement.outcomes:
        found.setdefault(outcome.device, []).append(outcome)
    return found


def _promises(promises: Sequence[Promise]) -> dict[str, object] | None:
    found = promise_score(promises)
    return None if found is None else asdict(found)


def _row(name: str, score: LaunchScore) -> list[str]:
    return [
        name,
        str(score.cases),
        f"{score.geometric_mean:.3f}",
        f"{score.over_own:.3f}",
        f"{score.share_of_oracle:.1%}",
        f"{score.interval.low:.3f} to {score.interval.high:.3f}",
        f"{score.losses:.0%}",
        f"{score.worst:.2f} {score.worst_case}",
    ]
