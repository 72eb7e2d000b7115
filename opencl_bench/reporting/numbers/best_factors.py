"""Best factors of curves: the numbers.

The counterpart of figure 5 of Magni, Dubach and O'Boyle (PACT 2014) where only best factors are known, as in
their table 5.
"""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.reporting.figures.text import listed
from coarsen.opencl_bench.reporting.numbers.curve_rows import device_name
from coarsen.opencl_bench.results.curves import Curve
from coarsen.opencl_bench.results.labels import short_device

COLUMNS = ("label", "factor", "curves", "share")


def best_factor_shares(curves: Iterable[Curve]) -> pd.DataFrame:
    """Count the curves of each device by their best factor.

    Args:
        curves: of any devices, with speed-ups or with best factors alone.

    Returns:
        a row for each device, in the order of the curves, and each factor that is the best of one at least, with
        columns `label`, `factor`, `curves` and `share`, the part of the device's curves; those of a device add up
        to 1.

    Raises:
        InvalidInputError: there are no curves.
    """
    rows = pd.DataFrame(
        [(short_device(device_name(curve.device)), curve.best_factor) for curve in curves],
        columns=["label", "factor"],
    )
    if rows.empty:
        raise InvalidInputError("there are no curves to show the best factors of")
    counts = rows.value_counts(["label", "factor"], sort=False).rename("curves").reset_index()
    counts["share"] = counts["curves"] / counts.groupby("label")["curves"].transform("sum")
    place = counts["label"].map({label: place for place, label in enumerate(rows["label"].unique())})
    ordered = counts.assign(place=place).sort_values(["place", "factor"])
    return ordered[list(COLUMNS)].reset_index(drop=True)


def best_factors_finding(shares: pd.DataFrame) -> str:
    """Say which factor is the best most often on each device.

    Args:
        shares: from `best_factor_shares`.
    """
    devices: dict[str, list[str]] = {}
    for label in shares["label"].unique():
        own = shares[shares["label"] == label]
        factors = own.loc[own["curves"] == own["curves"].max(), "factor"]
        devices.setdefault(" or ".join(map(str, factors)), []).append(label)
    parts = [f"{factors} on {listed(labels)}" for factors, labels in devices.items()]
    return f"The factor that is most often the best is {'; '.join(parts)}"
