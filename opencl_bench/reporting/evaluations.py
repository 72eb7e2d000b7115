"""Choices of predictors for kernels held out, and their results (Magni, Dubach, O'Boyle, PACT 2014, table 5 and
figure 10): the numbers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from coarsen.errors import InvalidInputError
from coarsen.models.evaluation.calibration import Calibration
from coarsen.models.evaluation.entrants import NEVER, ORACLE
from coarsen.models.evaluation.evaluation import Evaluation
from coarsen.models.evaluation.scores import HitScore, Outcome, SpeedupScore
from coarsen.opencl_bench.reporting.sheet import listed

# What stands for all kernels of a device together.
MEAN = "geometric mean"


def choice_table(evaluation: Evaluation) -> pd.DataFrame:
    """One row per device, kernel and method, the oracle among them, in the order of the data.

    Args:
        evaluation: of any methods on any devices.

    Returns:
        columns `device`, `kernel`, `best` (the best factor), `method`, `factor` (that which most seeds chose, the
        smaller of equals), `share` (of the seeds that chose it), `speedup` (geometric mean over seeds), `low` and
        `high` (over seeds). The speed-ups are NaN where the best factor alone is known.
    """
    return pd.DataFrame(
        [
            _choice(method, own)
            for device in evaluation.devices
            for method, outcomes in evaluation.on(device).items()
            for own in _by_kernel(outcomes)
        ]
    )


def speedup_bars(choices: pd.DataFrame) -> pd.DataFrame:
    """The rows that have a speed-up, and after each device's kernels a row per method with the geometric mean.

    Args:
        choices: from `choice_table`. `never` is left out: its speed-up is 1.

    Returns:
        columns `device`, `kernel` (or `MEAN`), `method`, `speedup`, `low`, `high`; those of a mean are NaN.

    Raises:
        InvalidInputError: there is no speed-up.
    """
    columns = ["device", "kernel", "method", "speedup", "low", "high"]
    known = choices.loc[choices["speedup"].notna() & (choices["method"] != NEVER), columns]
    if known.empty:
        raise InvalidInputError("no runtimes are known, only best factors: there are no speed-ups to show")
    means = [
        {
            "device": device,
            "kernel": MEAN,
            "method": method,
            "speedup": float(np.exp(np.log(own["speedup"]).mean())),
        }
        for (device, method), own in known.groupby(["device", "method"], sort=False)
    ]
    return pd.concat([known, pd.DataFrame(means)], ignore_index=True)


def factor_table(choices: pd.DataFrame) -> pd.DataFrame:
    """Best and predicted factors, as in table 5: one row per kernel.

    Args:
        choices: from `choice_table`.

    Returns:
        columns `kernel` and, for each device, `DEVICE best` and `DEVICE METHOD`, without oracle and `never`; text,
        with `~` where not all seeds agree, and empty where nothing is known.
    """
    table: dict[str, dict[str, str]] = {}
    for row in choices.itertuples():
        cells = table.setdefault(row.kernel, {})
        cells[f"{row.device} best"] = str(row.best)
        if row.method not in (NEVER, ORACLE):
            cells[f"{row.device} {row.method}"] = f"{row.factor}{'~' if row.share < 1 else ''}"
    rows = pd.DataFrame.from_dict(table, orient="index").fillna("")
    return rows.rename_axis("kernel").reset_index()


def markdown(table: pd.DataFrame) -> str:
    """A table as Markdown.

    Args:
        table: of whatever can be written as text, such as `factor_table` gives.

    Returns:
        The lines of the table, its heading first.
    """
    lines = [list(map(str, table.columns)), ["---"] * len(table.columns), *table.astype(str).to_numpy().tolist()]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def predictions_finding(bars: pd.DataFrame) -> str:
    """Say which method comes nearest to the best factors on each device, by the geometric mean.

    Args:
        bars: from `speedup_bars`.
    """
    means = method_means(bars)
    parts = [_nearest(device, own) for device, own in means.items() if set(own) - {ORACLE}]
    if not parts:
        best = [f"{own[ORACLE]:.2f} on {device}" for device, own in means.items()]
        return f"Geometric mean of the speed-ups of the best factors: {listed(best)}"
    if all(ORACLE in own for own in means.values()):
        return f"Nearest to the best factors on kernels held out, by the geometric mean: {'; '.join(parts)}"
    return f"Largest geometric mean of the speed-ups on kernels held out: {'; '.join(parts)}"


def method_means(bars: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Return the geometric means by device and method, in their order.

    Args:
        bars: from `speedup_bars`.
    """
    found: dict[str, dict[str, float]] = {}
    for row in bars[bars["kernel"] == MEAN].itertuples():
        found.setdefault(row.device, {})[row.method] = row.speedup
    return found


def _nearest(device: str, means: Mapping[str, float]) -> str:
    """The method of the largest mean, or all of those that are written alike."""
    shown = {method: f"{mean:.2f}" for method, mean in means.items() if method != ORACLE}
    largest = max(means[method] for method in shown)
    names = listed([method for method, text in shown.items() if text == f"{largest:.2f}"])
    beside = f" of {means[ORACLE]:.2f}" if ORACLE in means else ""
    return f"{names} on {device} ({largest:.2f}{beside})"


def _by_kernel(outcomes: Sequence[Outcome]) -> Iterator[list[Outcome]]:
    kernels: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        kernels.setdefault(outcome.example.kernel, []).append(outcome)
    yield from kernels.values()


def _choice(method: str, outcomes: Sequence[Outcome]) -> dict[str, object]:
    """The row of one kernel's outcomes, one for each seed."""
    example = outcomes[0].example
    counts = Counter(outcome.choice.factor for outcome in outcomes)
    factor = min(counts, key=lambda each: (-counts[each], each))
    logs = [outcome.log_speedup if outcome.is_measured else math.nan for outcome in outcomes]
    return {
        "device": example.device,
        "kernel": example.kernel,
        "best": example.best_factor,
        "method": method,
        "factor": factor,
        "share": counts[factor] / len(outcomes),
        "speedup": math.exp(float(np.mean(logs))),
        "low": math.exp(min(logs)),
        "high": math.exp(max(logs)),
    }


# Quality of predictors on kernels held out, as tables: what `Evaluation`'s scores hold, a row per method.

# Stands in place of the worst kernel's name for a method that never loses.
NO_LOSS = ""


def score_table(evaluation: Evaluation) -> pd.DataFrame:
    """Return the gain of each method's choices: one row for each device whose curves are known, and each method.

    Args:
        evaluation: of any methods on any devices.

    Returns:
        columns `device`, `method`, `kernels`, `geometric_mean` (of the speed-ups over the uncoarsened kernel, over
        kernels and seeds), `low` and `high` (its 95 % bootstrap interval over kernels), `of_oracle` (the ratio to
        the best factors' geometric mean), `losses` (kernels with a speed-up below 0.95, the mean over seeds),
        `worst` (the smallest speed-up of any kernel at any seed) and `worst_kernel` (empty where nothing is below
        1), `abstained` (kernels left alone because they are unlike all that was learned from, the mean over
        seeds), `seeds`, `seed_low` and `seed_high` (the geometric means of single seeds; NaN with one seed).
        Empty where best factors alone are known.
    """
    rows = [
        _speedup_row(device, method, score)
        for device in evaluation.devices
        for method, score in evaluation.speedup_scores(device).items()
    ]
    return pd.DataFrame(rows)


def hit_table(evaluation: Evaluation) -> pd.DataFrame:
    """Return the distance of each method's choices to the best factors: one row for each device and method.

    Args:
        evaluation: of any methods on any devices; the best factor suffices.

    Returns:
        columns `device`, `method`, `kernels`, `exact` and `within_one_doubling` (kernels, the mean over seeds),
        `mean_error` (the mean of |log2(chosen / best)|, in doublings), `low` and `high` (its 95 % bootstrap
        interval over kernels), `abstained` and `seeds` as in `score_table`.
    """
    rows = [
        _hit_row(device, method, score)
        for device in evaluation.devices
        for method, score in evaluation.hit_scores(device).items()
    ]
    return pd.DataFrame(rows)


def _speedup_row(device: str, method: str, score: SpeedupScore) -> dict[str, object]:
    spread = score.spread
    return {
        "device": device,
        "method": method,
        "kernels": score.cases,
        "geometric_mean": score.geometric_mean,
        "low": score.interval.low,
        "high": score.interval.high,
        "of_oracle": score.share_of_oracle,
        "losses": score.losses,
        "worst": score.worst,
        "worst_kernel": score.worst_case[0] if score.worst < 1 else NO_LOSS,
        "abstained": score.abstentions,
        "seeds": spread.seeds if spread else 1,
        "seed_low": spread.low if spread else math.nan,
        "seed_high": spread.high if spread else math.nan,
    }


def _hit_row(device: str, method: str, score: HitScore) -> dict[str, object]:
    return {
        "device": device,
        "method": method,
        "kernels": score.cases,
        "exact": score.exact,
        "within_one_doubling": score.within_one_doubling,
        "mean_error": score.mean_error,
        "low": score.interval.low,
        "high": score.interval.high,
        "abstained": score.abstentions,
        "seeds": score.spread.seeds if score.spread else 1,
    }


# Calibration of probabilities, on kernels held out: the numbers.

COLUMNS = ("method", "low", "high", "steps", "mean_probability", "helped", "interval_low", "interval_high")


def calibration_points(calibrations: Mapping[str, Calibration]) -> pd.DataFrame:
    """A row for each method and each bin of probabilities that has forecasts; the columns are `COLUMNS`.

    Args:
        calibrations: by method.

    Raises:
        InvalidInputError: there are none.
    """
    if not calibrations:
        raise InvalidInputError("none of the methods gives probabilities")
    rows = [
        {
            "method": name,
            "low": each.low,
            "high": each.high,
            "steps": each.steps,
            "mean_probability": each.mean_probability,
            "helped": each.helped,
            "interval_low": each.interval.low,
            "interval_high": each.interval.high,
        }
        for name, found in calibrations.items()
        for each in found.bins
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def calibration_finding(calibrations: Mapping[str, Calibration]) -> str:
    """Say in a sentence how far off the probabilities are."""
    parts = [f"{_points(found)} with {name}" for name, found in calibrations.items()]
    return f"Probability that a step helps: on average off how often it did by {listed(parts)}"


def _points(found: Calibration) -> str:
    count = f"{100 * found.expected_calibration_error:.0f}"
    return f"{count} point" if count == "1" else f"{count} points"
