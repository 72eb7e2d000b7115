"""The tables of `coarsen evaluate`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from coarsen.cli.evaluate.report import Report
from coarsen.cli.output import counted, print_line, print_table
from coarsen.models.evaluation.calibration import Calibration, calibrations
from coarsen.models.evaluation.entrants import NEVER, ORACLE, UNIQUE
from coarsen.models.evaluation.evaluation import Evaluation
from coarsen.models.evaluation.scores import (
    GIVEN_UP_SPEEDUP,
    HitScore,
    Interval,
    Outcome,
    SeedSpread,
    SpeedupScore,
    oracle_log_speedup,
)

_SPEEDUP_HEADINGS = (
    "method",
    "geometric mean",
    "of oracle",
    "of gain",
    "over unique",
    "<0.95",
    "worst",
    "abstained",
)
_HIT_HEADINGS = ("method", "exact", "within one doubling", "mean error, doublings", "abstained")
_SPEEDUP_LEGEND = (
    "Geometric mean: of the speed-ups over the uncoarsened kernel, over kernels and",
    "seeds; in brackets the 95 % bootstrap interval over kernels. Of oracle: of the",
    "best factors' geometric mean; of gain: of its logarithm. Over unique: the ratio",
    "of the geometric means, paired. <0.95: kernels that lose more than 5 %. Worst:",
    "over kernels and seeds.",
)


def print_report(report: Report, details: bool) -> None:
    """Print the scores on each device, and on all together; calibration; with `details` each kernel's factors."""
    print_line(report.protocol)
    for device in report.measured_devices:
        _print_speedups(device, report.evaluation.speedup_scores(device))
        if details:
            _print_details(report, device)
    if len(report.measured_devices) > 1:
        together = report.evaluation.speedup_scores(*report.measured_devices)
        _print_speedups(f"all {len(report.measured_devices)} devices", together)
    for device in report.other_devices:
        _print_hits(device, report.evaluation.hit_scores(device))
        if details:
            _print_details(report, device)
    for name, found in calibrations(report.evaluation).items():
        _print_calibration(name, found)
    if report.measured_devices:
        print_line()
        for line in _SPEEDUP_LEGEND:
            print_line(line)


def _print_speedups(device: str, scores: Mapping[str, SpeedupScore]) -> None:
    _print_heading(device, max(score.cases for score in scores.values()))
    paired = any(UNIQUE in score.over for score in scores.values())
    kept = [name for name in _SPEEDUP_HEADINGS if paired or name != "over unique"]
    rows = [dict(zip(_SPEEDUP_HEADINGS, _speedup_cells(*item), strict=True)) for item in scores.items()]
    print_table(kept, [[row[name] for name in kept] for row in rows], numbers=("of oracle", "of gain", "<0.95"))
    for name, score in scores.items():
        for remark in _remarks(name, score):
            print_line(remark)


def _speedup_cells(name: str, score: SpeedupScore) -> list[str]:
    over = score.over.get(UNIQUE)
    return [
        name,
        f"{score.geometric_mean:.3f} {_range(score.interval)}" if name != NEVER else "1.000",
        _per_cent(score.share_of_oracle),
        _per_cent(score.share_of_gain),
        f"{over.value:.2f} {_range(over.interval, 2)}" if over is not None and name != UNIQUE else "",
        _number(score.losses),
        f"{score.worst:.2f} {score.worst_case[0]}" if score.worst < 1 else f"{score.worst:.2f}",
        _number(score.abstentions),
    ]


def _remarks(name: str, score: SpeedupScore) -> Iterator[str]:
    if score.spread is not None:
        yield f"{name}: {_spread(score.spread, 'geometric mean', 3)}"
    if score.fallbacks:
        yield f"{name}: {_choices(score.fallbacks)} could not run; as in a launch, the next smaller factor did"
    if score.given_up:
        yield f"{name}: {_choices(score.given_up)} had been given up as too slow: counted as {GIVEN_UP_SPEEDUP}"


def _choices(count: float) -> str:
    return f"{_number(count)} {'choice' if count == 1 else 'choices'}"


def _print_hits(device: str, scores: Mapping[str, HitScore]) -> None:
    _print_heading(f"{device} (best factors alone)", max(score.cases for score in scores.values()))
    rows = [
        [
            name,
            f"{_number(score.exact)}/{score.cases}",
            f"{_number(score.within_one_doubling)}/{score.cases}",
            f"{score.mean_error:.2f} {_range(score.interval, 2)}",
            _number(score.abstentions),
        ]
        for name, score in scores.items()
    ]
    print_table(_HIT_HEADINGS, rows, numbers=_HIT_HEADINGS[1:3])
    for name, score in scores.items():
        if score.spread is not None:
            print_line(f"{name}: {_spread(score.spread, 'mean error', 2)}")


def _print_heading(device: str, cases: int) -> None:
    print_line()
    print_line(f"{device}: {counted(cases, 'kernel' if not device.startswith('all ') else 'case')}")


def _print_details(report: Report, device: str) -> None:
    table = details(report.evaluation, device)
    print_line()
    print_table(table.headings, table.rows)


def _print_calibration(name: str, found: Calibration) -> None:
    print_line()
    print_line(f"{name}: predicted probability that a step helps against the observed share")
    headings = ("called", "steps", "mean", "helped")
    rows = [
        [
            f"{100 * each.low:.0f} to {100 * each.high:.0f} %",
            _number(each.steps),
            _per_cent(each.mean_probability),
            f"{_per_cent(each.helped)} ({100 * each.interval.low:.0f}–{100 * each.interval.high:.0f})",
        ]
        for each in found.bins
    ]
    print_table(headings, rows, numbers=headings[1:3])
    error, brier = found.expected_calibration_error, found.brier
    print_line(f"{_number(found.steps)} steps; expected calibration error {error:.3f}, Brier score {brier:.3f}")


def _spread(spread: SeedSpread, what: str, digits: int) -> str:
    return (
        f"{what} {spread.low:.{digits}f} to {spread.high:.{digits}f} over {spread.seeds} seeds, "
        f"standard deviation {spread.standard_deviation:.{digits}f}"
    )


def _range(interval: Interval, digits: int = 3) -> str:
    return f"({interval.low:.{digits}f}–{interval.high:.{digits}f})"


def _per_cent(share: float | None) -> str:
    return f"{100 * share:.0f} %" if share is not None else "–"


def _number(count: float) -> str:
    """A mean over seeds: whole where it is."""
    return f"{count:.0f}" if math.isclose(count, round(count), abs_tol=1e-9) else f"{count:.1f}"


# The choices of each method for each kernel, and the best possible ones.


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
