"""Quality of predictors on kernels held out, as tables: what `Evaluation`'s scores hold, a row per method."""

from __future__ import annotations

import math

import pandas as pd

from coarsen.models.evaluation.evaluation import Evaluation
from coarsen.models.evaluation.scores import HitScore, SpeedupScore

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
