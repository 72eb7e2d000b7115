"""Calibration of probabilities, on kernels held out: the numbers."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from coarsen.errors import InvalidInputError
from coarsen.models.evaluation.calibration import Calibration
from coarsen.opencl_bench.reporting.figures.text import listed

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
